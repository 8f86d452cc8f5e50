package workbench

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/simulate"
)

// recording wraps calls so that each request is written as a case below a folder, once. The author
// keeps the useful ones. It fails if the folder has recorded cases, which somebody may have edited.
func recording(dir string, call simulate.Call) (simulate.Call, error) {
	there, err := fs.Glob(os.DirFS(dir), "*/*/step-[0-9]*.yaml") // the name of dir is no pattern
	if err != nil {
		return nil, cli.Usagef("--record: %w", err)
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("--record: %s has been recorded before: give it a name that says what it shows, or delete it", filepath.Join(dir, filepath.FromSlash(there[0])))
	}
	written, count := map[string]bool{}, map[string]int{} // requests without their time, and cases by hook
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		status, answer, err := call(now, path, body)
		key := path + string(body)
		if err != nil || status != http.StatusOK || written[key] {
			return status, answer, err
		}
		written[key] = true
		count[path]++
		if err := writeCase(dir, fmt.Sprintf("%s/step-%03d", strings.TrimPrefix(path, "/"), count[path]), now, body, answer); err != nil {
			return status, answer, fmt.Errorf("--record: %w", err)
		}
		return status, answer, nil
	}, nil
}

// writeCase writes a request and its answer.
func writeCase(dir, name string, now time.Time, body, answer []byte) error {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	delete(request, "controller") // a hook only asks whether it has a labelSelector, and this one has none
	input, err := json.Marshal(request)
	if err == nil {
		input, err = documents.ToYAML(input)
	}
	if err != nil {
		return err
	}
	output, err := documents.ToYAML(answer)
	if err != nil {
		return err
	}
	head := fmt.Appendf(nil, "# Recorded by simulate: name the file after what it shows, and say here why.\nnow: %q\n", now.UTC().Format(time.RFC3339Nano))
	if err := documents.WriteBelow(dir, name+".out.yaml", output, 0o644); err != nil {
		return err
	}
	return documents.WriteBelow(dir, name+".in.yaml", append(head, input...), 0o644)
}
