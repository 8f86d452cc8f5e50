package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const podSet = "deploy/samples/podset.yaml"

// button is a focused button with a text.
func button(text string) string {
	quoted, _ := json.Marshal(text)
	return `at.matches("button") && ((each) => ` + label + `)(at) === ` + string(quoted)
}

// TestOvertakenRunIsPlayedAgain: an older request may reach the program last, which then refuses the
// newest one. The page plays that again.
func TestOvertakenRunIsPlayedAgain(t *testing.T) {
	p := open(t, play(t, podSet), desk)
	p.until(played)
	eval[bool](p, `(() => {
		const asked = window.fetch;
		let isFirst = true;
		window.fetch = (path, init) => {
			if (path !== "run" || !isFirst) return asked(path, init);
			isFirst = false;
			return Promise.resolve(new Response("a newer request has taken its place", { status: 429 }));
		};
		return true;
	})()`)
	p.do(chromedp.Focus(chromedp.CSS(".cm-content")))
	p.press("End", control)
	p.write("x")
	p.until(`document.querySelector(".problems")`)
	p.until(played)
}

func TestKeysAreEnough(t *testing.T) {
	p := open(t, play(t, podSet), desk)
	p.until(`document.querySelector('[role="status"]').textContent.includes("3 of 3 Pods are ready")`)

	// Edit a field, and let another one be completed.
	p.tabTo(`at.matches(".cm-content")`)
	p.press("Home", control)
	for range 6 {
		p.press("ArrowDown")
	}
	p.press("End")
	p.press("Backspace")
	p.write("2")
	p.until(`document.querySelector('[role="status"]').textContent.includes("2 of 2 Pods are ready")`)
	p.press("Enter")
	p.write("progressD")
	p.until(`document.querySelector(".cm-tooltip-autocomplete [aria-selected]")?.textContent.includes("progressDeadlineSeconds")`)
	p.do(chromedp.Sleep(150 * time.Millisecond)) // so soon CodeMirror takes Enter for a part of what is typed
	p.press("Enter")
	p.write("ten")
	p.until(`document.querySelector(".problems")?.textContent.includes("progressDeadlineSeconds")`)
	for range 3 {
		p.press("Backspace")
	}
	p.write("30")
	p.until(`!document.querySelector(".problems")`)

	// Choose a Pod, and evict it at the second step.
	p.tabTo(`at.matches("g.node")`)
	p.press("ArrowRight")
	p.press("Enter")
	p.until(`document.querySelector(".inspector h2")?.textContent === "Pod/cache-0"`)
	p.tabTo(`at.matches("input[type=range]")`)
	p.press("Home")
	p.press("ArrowRight")
	p.until(`document.querySelector(".where b").textContent.startsWith("Step 2 of")`)
	assert.Contains(t, eval[string](p, `document.activeElement.getAttribute("aria-valuetext")`), "step 2 of")
	p.tabTo(button("Evict"))
	p.press("Enter")
	p.until(`document.querySelector(".plan code")?.textContent === "evict Pod/cache-0"`)
	p.until(`document.querySelector(".where b").textContent.startsWith("Step 3 of")`)
	p.until(`document.querySelector(".where").textContent.includes("evict Pod/cache-0")`)

	// Read the events, and take the action back.
	p.tabTo(`at.matches('[role="tab"]') && at.textContent === "Lanes"`)
	p.press("ArrowRight")
	p.until(`document.querySelector(".events [aria-current]")?.textContent.includes("evict Pod/cache-0")`)
	p.tabTo(`at.getAttribute("aria-label") === "Remove evict Pod/cache-0"`)
	p.press("Enter")
	p.until(`!document.querySelector(".plan code")`)
	assert.Equal(t, "INPUT", eval[string](p, `document.activeElement.tagName`), "the focus is not lost with the button")

	// A dialog keeps the focus, and gives it back.
	p.tabTo(button("Save…"))
	p.press("Enter")
	p.until(`document.querySelector("dialog[open]")?.contains(document.activeElement)`)
	p.press("Escape")
	p.until(`!document.querySelector("dialog")`)
	assert.Equal(t, "Save…", eval[string](p, `document.activeElement.textContent`))

	// Edit a field of the custom resource at a step.
	p.tabTo(`at.matches("g.node")`)
	p.press("ArrowLeft")
	p.press("Enter")
	p.tabTo(button("Edit…"))
	p.press("Enter")
	p.until(`document.querySelector("dialog[open]")?.contains(document.activeElement)`)
	p.press("End")
	p.press("Home", shift)
	p.write("spec.size")
	p.press("Tab")
	p.press("End")
	p.press("Home", shift)
	p.write("4")
	p.press("Enter")
	p.until(`document.querySelector(".plan code")?.textContent === 'edit PodSet/cache {"spec":{"size":4}}'`)
	p.until(`document.querySelector('[role="status"]').textContent.includes("4 of 4 Pods are ready")`)
}

// TestADialogGivesTheFocusBackAtOnce, and does not take it later from where somebody has put it.
func TestADialogGivesTheFocusBackAtOnce(t *testing.T) {
	p := open(t, play(t, podSet), desk)
	p.until(played)
	p.do(chromedp.Click(chromedp.CSS(`g.node[aria-label^="cache-1 Pod"]`)))
	for range 5 {
		p.click("Share…")
		p.until(`document.querySelector("dialog[open]")`)
		eval[any](p, `void new MutationObserver((_, observer) => {
			if (document.querySelector("dialog")) return;
			observer.disconnect();
			document.querySelector(".cm-content").focus();
		}).observe(document.body, { childList: true, subtree: true })`)
		p.press("Escape")
		p.until(`!document.querySelector("dialog")`)
		at := eval[string](p, `new Promise((done) => setTimeout(() => done(document.activeElement.className), 300))`)
		require.Contains(t, at, "cm-content")
	}
}

// atRest is what the page says of an action that has no effect once nothing changes.
var atRest = map[string]string{
	"Crash":       "it had no effect: the sync writes too little for that",
	"Lose status": "it had no effect: the sync writes too little for that",
	"Late cache":  "|it had no effect: Metacontroller has heard of everything",
	"Quota":       "it had no effect: nobody creates a [A-Za-z]+ after that",
	"Refuse":      "it had no effect: nobody creates a [A-Za-z]+ after that",
	"Fail":        "|it had no effect: .*: it has ended",
}

// TestEveryButtonWorks does everything to every object of some samples, each to a fresh run.
func TestEveryButtonWorks(t *testing.T) {
	for _, sample := range []string{"modelbox", "build"} {
		p := open(t, play(t, "deploy/samples/"+sample+".yaml"), desk)
		p.until(played)
		for object := range eval[int](p, `document.querySelectorAll("g.node").length`) {
			eval[bool](p, fmt.Sprintf(`document.querySelector('g.node[data-index="%d"]').dispatchEvent(new MouseEvent("click", { bubbles: true }))`, object))
			names := eval[[]string](p, `[...document.querySelectorAll(".actions button b")].map((each) => each.textContent)`)
			for _, name := range slices.DeleteFunc(names, func(name string) bool { return name == "Edit…" }) {
				p.click(name)
				p.until(`document.querySelector(".plan code")`)
				p.until(played)
				told := eval[string](p, `document.querySelector(".problem")?.textContent ?? ""`)
				assert.Regexp(t, "^("+atRest[name]+")$", told, "%s: %s, at rest", sample, name)
				assert.Contains(t, p.status(), "Played", "%s: %s", sample, name)
				for eval[bool](p, `!!document.querySelector(".plan code")`) {
					p.click("×")
				}
				p.until(played)
			}
		}
	}
}

// answer returns what the page was answered last.
func (p *tab) answer(path string) string {
	p.Helper()
	p.mu.Lock()
	requests := slices.Clone(p.requests)
	p.mu.Unlock()
	for _, request := range slices.Backward(requests) {
		if strings.HasSuffix(request.Request.URL, path) {
			body, err := chromedp.Call(p.ctx, network.GetResponseBody, network.GetResponseBodyParams{RequestID: request.RequestID})
			require.NoError(p, err)
			return string(body.Body)
		}
	}
	require.Fail(p, "nothing was asked of "+path)
	return ""
}

func TestALinkReproducesTheRun(t *testing.T) {
	url := play(t, podSet)
	p := open(t, url, desk)
	p.until(played)
	p.do(chromedp.Click(chromedp.CSS(`g.node[aria-label^="cache-1 Pod"]`)))
	p.until(`document.querySelector(".inspector h2")?.textContent === "Pod/cache-1"`)
	p.click("Vanish")
	p.until(`document.querySelector('[role="status"]').textContent.startsWith("Played") && document.querySelector(".plan code")`)
	p.until(`document.querySelector(".where").textContent.includes("vanish Pod/cache-1") || document.querySelector(".where").textContent.includes("deleted by hand")`)
	p.click("Share…")
	p.until(`document.querySelector("dialog input")?.value.includes("#s=")`)
	link := eval[string](p, `document.querySelector("dialog input").value`)
	assert.True(t, strings.HasPrefix(link, url+"#s="), link)
	assert.Less(t, len(link), 16<<10)

	other := open(t, link, look{360, 740, "dark"})
	other.until(`document.querySelector(".plan code")?.textContent === "vanish Pod/cache-1"`)
	first, second := p.answer("/run"), other.answer("/run")
	assert.Contains(t, first, `"transcript"`)
	assert.True(t, first == second, "the link plays another run")

	p.press("Escape")
	p.click("×")
	p.until(`location.hash === ""`)

	none := open(t, url+"#s=damaged", desk)
	none.until(played)
	assert.Contains(t, none.status(), "The link is damaged")
	assert.Contains(t, none.status(), "Played")
}

func TestALongScenarioIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long.yaml")
	text, err := os.ReadFile(filepath.Join("../..", podSet))
	require.NoError(t, err)
	noise := make([]byte, 16<<10) // which does not compress
	rand.New(rand.NewSource(1)).Read(noise)
	require.NoError(t, os.WriteFile(file, fmt.Appendf(text, "# %x\n", noise), 0o600))
	p := open(t, play(t, file), desk)
	p.click("Share…")
	p.until(`document.querySelector("dialog [role=alert]")?.textContent.includes("Save it as HTML")`)
	assert.NotContains(t, eval[string](p, `location.href`), "#")
}

// scenario is what the page of an address begins with.
func scenario(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url + "start")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var start struct{ Scenario json.RawMessage }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&start))
	return string(start.Scenario)
}

// exported writes the self-contained file of a scenario, and returns its address.
func exported(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"html", strings.NewReader(scenario(t, url)))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, string(page))
	path := filepath.Join(t.TempDir(), "run.html")
	require.NoError(t, os.WriteFile(path, page, 0o600))
	return "file://" + path
}

func TestAnExportedFileAsksNobody(t *testing.T) {
	file := exported(t, play(t, podSet))
	p := open(t, file, desk)
	assert.Equal(t, 4.0, eval[float64](p, `document.querySelectorAll("g.node").length`))
	p.do(chromedp.Focus(chromedp.CSS("input[type=range]")))
	p.press("Home")
	p.until(`document.querySelector(".where b").textContent.startsWith("Step 1 of")`)
	p.until(`document.querySelector(".yaml").textContent.includes("kind: PodSet")`)
	for _, request := range p.requests {
		assert.Equal(t, file, request.Request.URL)
	}
	assert.Len(t, p.requests, 1)
}
