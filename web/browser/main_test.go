// Package browser walks through the page of operetta play in a real browser.
package browser

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// programs are the names under which distributions install the browser.
var programs = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// browser returns its path, or skips the test.
func browser(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("no browser is started under -short")
	}
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("none of %s is on the PATH: make page-tools installs one on Debian, as root", strings.Join(programs, ", "))
	return ""
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "operetta-page")
	if err != nil {
		return "", err
	}
	command := exec.Command("go", "build", "-o", dir, "./cmd/operetta")
	command.Dir = "../.."
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return filepath.Join(dir, "operetta"), nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

var address = regexp.MustCompile(`http://\S+`)

// play starts operetta play, and returns the address of its page.
func play(t testing.TB, args ...string) string {
	t.Helper()
	program, err := built()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, program, append([]string{"play", "--port", "0"}, args...)...)
	command.Dir = "../.."
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		cancel()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	url := address.FindString(line)
	require.NotEmpty(t, url, line)
	return url
}

// tab is a page in a browser of its own. What it must never have fails the test at its end: errors
// on the console, and requests to somebody else.
type tab struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	wrong    []string
	requests []*network.EventRequestWillBeSent
}

// look is what somebody's screen is like.
type look struct {
	width, height int64
	scheme        string // light or dark
}

var desk = look{1280, 800, "light"}

func open(t testing.TB, url string, how look) *tab {
	t.Helper()
	p := &tab{TB: t}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser(t)), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewContext(t.Context(), chromedp.WithAllocatorOptions(options...), chromedp.WithListener(p.hear))
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 15*time.Minute)
	t.Cleanup(stop)
	p.ctx = ctx
	p.do(chromedp.EmulateViewport(how.width, how.height))
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: how.scheme}},
	})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	p.do(chromedp.Navigate(url))
	p.until(`document.querySelectorAll("g.node").length > 0`)
	t.Cleanup(func() { assert.Empty(t, p.wrong, "errors on the console") })
	return p
}

func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, argument := range e.Args {
			p.wrong = append(p.wrong, fmt.Sprintf("%s: %s %s", e.Type, argument.Value, argument.Description))
		}
	case *runtime.EventExceptionThrown:
		p.wrong = append(p.wrong, e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		p.wrong = append(p.wrong, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e)
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	require.NoError(p, chromedp.Do(p.ctx, steps...))
}

// eval returns the value of an expression, or of the promise that it is.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p, err, expression)
	return value
}

// until waits for a condition.
func (p *tab) until(condition string) {
	p.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !eval[bool](p, "!!("+condition+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.Fail(p, "waited in vain", "%s\nstatus: %s\nfocus: %s\neditor: %s", condition, p.status(),
				eval[string](p, `document.activeElement.outerHTML.slice(0, 200)`), eval[string](p, `document.querySelector(".cm-content")?.innerText ?? ""`))
		}
	}
}

// played is whether the page shows the run of what is written.
const played = `document.querySelector('main[aria-busy="false"]')`

// status is what the live region tells.
func (p *tab) status() string {
	return eval[string](p, `document.querySelector('[role="status"]')?.textContent ?? ""`)
}

// keys are those that write nothing.
var keys = map[string]int64{
	"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "End": 35, "Home": 36, "Backspace": 8, "Delete": 46,
	"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
}

// modifiers of keys
const control, shift = 2, 8

// press presses a key as a keyboard does: what the page prevents has no effect.
func (p *tab) press(key string, modifiers ...int64) {
	p.Helper()
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Code: key}
	down.WindowsVirtualKeyCode = keys[key]
	switch {
	case key == "Enter":
		down.Text = "\r"
	case key == "Space":
		down.Key, down.Text = " ", " "
	case keys[key] == 0:
		down.Text, down.Code = key, ""
	}
	for _, modifier := range modifiers {
		down.Modifiers |= modifier
	}
	_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, down)
	require.NoError(p, err)
	up := down
	up.Type, up.Text = input.DispatchKeyEventTypeKeyUp, ""
	_, err = chromedp.Call(p.ctx, input.DispatchKeyEvent, up)
	require.NoError(p, err)
}

// write types a text.
func (p *tab) write(text string) {
	p.Helper()
	for _, character := range text {
		p.press(string(character))
	}
}

// focusIsSeen is whether one can see where the focus is.
const focusIsSeen = `(() => {
	const at = document.activeElement;
	if (!at || at === document.body) return true;
	if (at.closest(".cm-focused")) return true;
	const style = getComputedStyle(at.matches("g.node") ? at.querySelector("rect") : at);
	return at.matches("g.node") ? style.strokeWidth === "3.5px" : style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
})()`

// tabTo presses Tab until the focus is on what a function of JavaScript accepts.
func (p *tab) tabTo(is string) {
	p.Helper()
	for range 80 {
		p.press("Tab")
		p.until(focusIsSeen)
		if eval[bool](p, fmt.Sprintf(`((at) => %s)(document.activeElement)`, is)) {
			return
		}
	}
	require.Fail(p, "not reached with Tab", is)
}
