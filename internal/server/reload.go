package server

import (
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// reloadPause is how long a value is used before its files are looked at again.
const reloadPause = time.Second

// reloaded is a value that was parsed from files. It is parsed again when their sizes or
// times change. If that fails, the former value stays.
type reloaded[T any] struct {
	what  string
	files []string
	parse parser[T]
	log   *slog.Logger

	mu     sync.Mutex
	looked time.Time // when current looked at the files
	stamps []stamp
	value  T
}

// parser parses the contents of files, and returns what the log tells of the value.
type parser[T any] func(contents [][]byte) (T, slog.Attr, error)

// stamp is the version of a file.
type stamp struct {
	modified time.Time
	size     int64
}

func load[T any](what string, files []string, parse parser[T], log *slog.Logger) (*reloaded[T], error) {
	r := &reloaded[T]{what: what, files: files, parse: parse, log: log, looked: time.Now()}
	r.stamps = r.stat()
	return r, r.read("loaded")
}

// stat returns the versions of the files; that of an absent one is zero.
func (r *reloaded[T]) stat() []stamp {
	stamps := make([]stamp, len(r.files))
	for i, file := range r.files {
		if info, err := os.Stat(file); err == nil {
			stamps[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return stamps
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
	stamps := r.stat() // before the files are read, so that no later change is missed
	if slices.Equal(stamps, r.stamps) {
		return r.value
	}
	r.stamps = stamps
	if err := r.read("reloaded"); err != nil {
		r.log.Error("the files cannot be used: the former "+r.what+" stay in use", "files", r.files, "error", err)
	}
	return r.value
}
