package server

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// reloadPause is how long a value is used before its files are looked at again.
const reloadPause = time.Second

// reloaded is a value that is parsed from files, again when their times or sizes change. If
// that fails, the former value stays.
type reloaded[T any] struct {
	what  string
	files []string
	parse func(contents [][]byte) (T, slog.Attr, error) // the attribute is for the log
	log   *slog.Logger

	mu      sync.Mutex
	looked  time.Time
	version string
	value   T
}

func load[T any](r *reloaded[T]) (*reloaded[T], error) {
	r.looked, r.version = time.Now(), r.stat()
	return r, r.read("loaded")
}

// stat returns the version of the files.
func (r *reloaded[T]) stat() (version string) {
	for _, file := range r.files {
		if info, err := os.Stat(file); err == nil {
			version += fmt.Sprint(file, info.Size(), info.ModTime())
		}
	}
	return version
}

func (r *reloaded[T]) read(message string) (err error) {
	contents := make([][]byte, len(r.files))
	for i, file := range r.files {
		if contents[i], err = os.ReadFile(file); err != nil {
			return err
		}
	}
	value, described, err := r.parse(contents)
	if err == nil {
		r.value = value
		r.log.Info(message, "what", r.what, "files", r.files, described)
	}
	return err
}

// current returns the value, after it has been read again if that is due.
func (r *reloaded[T]) current() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.looked) < reloadPause {
		return r.value
	}
	r.looked = time.Now()
	if version := r.stat(); version != r.version {
		r.version = version // before the files are read, so that no later change is missed
		if err := r.read("reloaded"); err != nil {
			r.log.Error("the files cannot be used: the former "+r.what+" stay in use", "files", r.files, "error", err)
		}
	}
	return r.value
}
