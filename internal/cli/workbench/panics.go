package workbench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
)

// call calls a hook. A panic becomes an error, and its stack is printed:
// whoever calls a hook from the command line is its author.
func (p *program) call(controller metacontroller.Controller, hook metacontroller.HookName, now time.Time, request []byte) (answer metacontroller.Answer, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the %s hook panicked: %v", hook, reason)
			fmt.Fprintf(p.Err, "%s/%s: panic: %v\n\n%s\n", controller.Name(), hook, reason, debug.Stack())
		}
	}()
	return controller.Call(hook, now, request)
}

// panicLog prints the stacks of the hooks that panic in a server, and nothing else that
// the server logs.
type panicLog struct{ out io.Writer }

// Enabled reports that errors are read.
func (panicLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle prints a stack.
func (l panicLog) Handle(_ context.Context, record slog.Record) error {
	texts := map[string]string{}
	record.Attrs(func(attribute slog.Attr) bool {
		texts[attribute.Key] = attribute.Value.String()
		return true
	})
	if texts["stack"] == "" {
		return nil
	}
	_, err := fmt.Fprintf(l.out, "%s/%s: %s\n\n%s\n", texts["kind"], texts["hook"], texts["error"], texts["stack"])
	return err
}

// WithAttrs returns the same log.
func (l panicLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup returns the same log.
func (l panicLog) WithGroup(string) slog.Handler { return l }
