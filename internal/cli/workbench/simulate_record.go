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

// caseRecorder writes the requests to the hooks of a simulation as cases, each
// once. The author keeps the useful ones.
type caseRecorder struct {
	dir     string
	written map[string]bool // requests without their time
	count   map[string]int  // of the cases of a hook
}

// recording wraps calls so that they are written as cases below a folder. It
// fails if the folder has recorded cases, which somebody may have edited.
func recording(dir string, call simulate.Call) (simulate.Call, error) {
	there, err := fs.Glob(os.DirFS(dir), "*/*/step-[0-9]*.yaml") // the name of dir is no pattern
	if err != nil {
		return nil, cli.Usagef("--record: %w", err)
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("--record: %s has been recorded before: give it a name that says what it shows, or delete it", filepath.Join(dir, filepath.FromSlash(there[0])))
	}
	r := &caseRecorder{dir: dir, written: map[string]bool{}, count: map[string]int{}}
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		status, answer, err := call(now, path, body)
		key := path + string(body)
		if err != nil || status != http.StatusOK || r.written[key] {
			return status, answer, err
		}
		r.written[key] = true
		if err := r.write(now, path, body, answer); err != nil {
			return status, answer, fmt.Errorf("--record: %w", err)
		}
		return status, answer, nil
	}, nil
}

// write writes the case of a request.
func (r *caseRecorder) write(now time.Time, path string, body, answer []byte) error {
	hook := strings.TrimPrefix(path, "/")
	r.count[hook]++
	name := filepath.Join(r.dir, filepath.FromSlash(hook), fmt.Sprintf("step-%03d", r.count[hook]))
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
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	head := fmt.Sprintf("# Recorded by simulate: name the file after what it shows, and say here why.\nnow: %q\n", now.UTC().Format(time.RFC3339Nano))
	for ending, text := range map[string][]byte{".in.yaml": append([]byte(head), input...), ".out.yaml": output} {
		if err := writeNew(name+ending, text); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
