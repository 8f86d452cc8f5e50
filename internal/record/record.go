// Package record writes the requests that a server answers to files, without
// what must not be seen, so that another build can be asked the same.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// What a recording is limited to. Serving comes first: what does not fit is
// dropped and counted.
const (
	maxQueued      = 256       // exchanges that wait to be written
	maxQueuedBytes = 128 << 20 // of their requests
	maxCases       = 10_000
	maxBytes       = 512 << 20 // of all files
)

// Exchange is a request with its answer.
type Exchange struct {
	Controller metacontroller.Controller
	Hook       metacontroller.HookName
	Now        time.Time
	// Request and Answer are the bodies. Nobody may change them any more.
	Request, Answer []byte
}

// Recorder writes exchanges in the background.
type Recorder struct {
	dir   string
	log   *slog.Logger
	queue chan Exchange
	done  chan struct{}

	mutex   sync.Mutex
	closed  bool
	waiting int // bytes in the queue
	dropped int

	seen    map[string]bool // by what tells requests apart
	written int             // bytes
	full    bool
}

// New starts a Recorder that writes below a folder, which it makes. Close ends
// it. The error is that of the file system.
func New(dir string, log *slog.Logger) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for recordings: %w", err)
	}
	r := &Recorder{
		dir: dir, log: log, queue: make(chan Exchange, maxQueued), done: make(chan struct{}), seen: map[string]bool{},
	}
	go r.run()
	return r, nil
}

// Record takes an exchange, and never waits.
func (r *Recorder) Record(e Exchange) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.closed || r.waiting+len(e.Request) > maxQueuedBytes {
		r.dropped++
		return
	}
	select {
	case r.queue <- e:
		r.waiting += len(e.Request)
	default:
		r.dropped++
	}
}

// Close writes what waits, and ends the Recorder.
func (r *Recorder) Close() {
	r.mutex.Lock()
	if r.closed {
		r.mutex.Unlock()
		return
	}
	r.closed = true
	close(r.queue)
	r.mutex.Unlock()
	<-r.done
	r.log.Info("recorded", "folder", r.dir, "cases", len(r.seen), "bytes", r.written, "dropped", r.dropped)
}

func (r *Recorder) run() {
	defer close(r.done)
	for e := range r.queue {
		r.mutex.Lock()
		r.waiting -= len(e.Request)
		r.mutex.Unlock()
		if err := r.write(e); err != nil {
			r.log.Warn("an exchange is not recorded", "kind", e.Controller.Name(), "hook", e.Hook, "error", err)
		}
	}
}

// write writes an exchange, unless its like has been written.
func (r *Recorder) write(e Exchange) error {
	if r.full {
		return nil
	}
	request, err := clean(e)
	if err != nil {
		return err
	}
	key, err := keyOf(e, request)
	if err != nil || r.seen[key] {
		return err
	}
	name := nameOf(request, key)
	folder := filepath.Join(r.dir, e.Controller.Name(), string(e.Hook))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	text, err := textOf(e, request)
	if err != nil {
		return err
	}
	input := filepath.Join(folder, name+".in.yaml")
	if err := r.writeFile(input, text); err != nil {
		return err
	}
	// What counts is what a build answers to what is in the file.
	c, err := corpus.ReadCase(r.dir, input, []metacontroller.Controller{e.Controller})
	if err != nil {
		return err
	}
	answer, err := c.Print()
	if err != nil {
		return err
	}
	if err := r.writeFile(filepath.Join(folder, name+".out.yaml"), answer); err != nil {
		return err
	}
	r.seen[key] = true
	if len(r.seen) >= maxCases || r.written >= maxBytes {
		r.full = true
		r.log.Warn("the recording is full, and ends here", "folder", r.dir, "cases", len(r.seen), "bytes", r.written)
	}
	return nil
}

// writeFile writes a file that is there whole or not at all.
func (r *Recorder) writeFile(path string, content []byte) error {
	unfinished := path + ".unfinished"
	if err := os.WriteFile(unfinished, content, 0o600); err != nil {
		return err
	}
	r.written += len(content)
	return os.Rename(unfinished, path)
}

// clean returns the request without what must not be seen and what says nothing:
// Metacontroller's own configuration. A child that is as the hook asks for says
// so, for its hash may follow from something that has been removed.
func clean(e Exchange) (map[string]any, error) {
	var request map[string]any
	if err := json.Unmarshal(e.Request, &request); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	delete(request, "controller")
	if e.Hook == metacontroller.SyncHook {
		asked, err := corpus.Hashes(e.Answer)
		if err != nil {
			return nil, err
		}
		corpus.EachChild(request, func(ref string, annotations map[string]any) {
			if hash := annotations[metacontroller.HashAnnotation]; hash != nil && hash == asked[ref] {
				annotations[metacontroller.HashAnnotation] = corpus.AskedFor
			}
		})
	}
	redact(request)
	return request, nil
}

// restless are members of metadata that change without anything having changed.
var restless = []string{"resourceVersion", "managedFields", "generation"}

// keyOf returns what tells a request from others that are not worth another
// file.
func keyOf(e Exchange, request map[string]any) (string, error) {
	encoded, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	var calm map[string]any
	if err := json.Unmarshal(encoded, &calm); err != nil {
		return "", err
	}
	calmDown(calm)
	if encoded, err = json.Marshal(calm); err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(e.Controller.Name()+"/"+string(e.Hook)+"/"), encoded...))
	return hex.EncodeToString(sum[:]), nil
}

func calmDown(value any) {
	switch value := value.(type) {
	case map[string]any:
		if metadata, ok := value["metadata"].(map[string]any); ok {
			for _, name := range restless {
				delete(metadata, name)
			}
		}
		for _, member := range value {
			calmDown(member)
		}
	case []any:
		for _, item := range value {
			calmDown(item)
		}
	}
}

// nameOf returns the name of a case: that of its parent, its generation and a
// hash.
func nameOf(request map[string]any, key string) string {
	parent, _ := request["parent"].(map[string]any)
	metadata, _ := parent["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return strings.ReplaceAll(fmt.Sprintf("%s-g%v-%s", name, metadata["generation"], key[:8]), ".", "-")
}

func textOf(e Exchange, request map[string]any) ([]byte, error) {
	parent, _ := request["parent"].(map[string]any)
	metadata, _ := parent["metadata"].(map[string]any)
	request["now"] = e.Now.UTC().Format(time.RFC3339)
	body, err := yaml.Marshal(request)
	delete(request, "now")
	return fmt.Appendf(nil, "# Recorded: %s of %v/%v at generation %v.\n%s",
		e.Hook, metadata["namespace"], metadata["name"], metadata["generation"], body), err
}
