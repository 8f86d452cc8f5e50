package commands

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
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// recording wraps calls so that each request is written as a case below a folder, once. The author
// keeps the useful ones. It fails if the folder has recorded cases, which somebody may have edited.
func recording(dir string, call player.Call) (player.Call, error) {
	there, err := fs.Glob(os.DirFS(dir), "*/*/step-[0-9]*.yaml") // the name of dir is no pattern
	if err != nil {
		return nil, cli.Usagef("--record: %w", err)
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("--record: %s has been recorded before: give it a name that says what it shows, or delete it", filepath.Join(dir, filepath.FromSlash(there[0])))
	}
	return eachCase(call, func(name string, now time.Time, body, answer []byte) error {
		if err := writeCase(dir, name, now, body, answer); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
		return nil
	}), nil
}

// eachCase wraps calls so that each request that is answered is kept once, with a name.
func eachCase(call player.Call, keep func(name string, now time.Time, body, answer []byte) error) player.Call {
	kept, count := map[string]bool{}, map[string]int{} // requests without their time, and cases by hook
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		status, answer, err := call(now, path, body)
		key := path + string(body)
		if err != nil || status != http.StatusOK || kept[key] {
			return status, answer, err
		}
		kept[key] = true
		count[path]++
		name := fmt.Sprintf("%s/step-%03d", strings.TrimPrefix(path, "/"), count[path])
		return status, answer, keep(name, now, body, answer)
	}
}

// writeCase writes a request and its answer.
func writeCase(dir, name string, now time.Time, body, answer []byte) error {
	input, output, err := caseOf(now, body, answer)
	if err != nil {
		return err
	}
	if err := documents.WriteBelow(dir, name+".out.yaml", output, 0o644); err != nil {
		return err
	}
	return documents.WriteBelow(dir, name+".in.yaml", input, 0o644)
}

// caseOf returns a request and its answer as they stand in a case.
func caseOf(now time.Time, body, answer []byte) (input, output []byte, err error) {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, nil, err
	}
	delete(request, "controller") // a hook only asks whether it has a labelSelector, and this one has none
	input, err = json.Marshal(request)
	if err == nil {
		input, err = documents.ToYAML(input)
	}
	if err != nil {
		return nil, nil, err
	}
	if output, err = documents.ToYAML(answer); err != nil {
		return nil, nil, err
	}
	head := fmt.Appendf(nil, "# Recorded by simulate: name the file after what it shows, and say here why.\nnow: %q\n", now.UTC().Format(time.RFC3339Nano))
	return append(head, input...), output, nil
}
