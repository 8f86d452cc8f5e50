package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answers lets the page's program answer a run with what stands in a function of JavaScript, which gets the
// function that asks the program.
func (p *tab) answers(with string) {
	p.Helper()
	eval[bool](p, `(() => {
		window.asked ??= window.fetch;
		window.fetch = (path, init) => (path === "run" ? (`+with+`)(() => window.asked(path, init)) : window.asked(path, init));
		return true;
	})()`)
}

// veiled is whether somebody sees that the run is of another text.
const veiled = `(document.querySelector(".veil") && getComputedStyle(document.querySelector(".veil")).visibility === "visible")`

// typeInto writes at the end of the text.
func (p *tab) typeInto(text string) {
	p.Helper()
	p.do(chromedp.Focus(chromedp.CSS(".cm-content")))
	p.press("End", control)
	p.write(text)
}

// TestARunOfAnotherTextIsVeiled: whatever keeps the page from the run of what is written, nobody takes an older one
// for it.
func TestARunOfAnotherTextIsVeiled(t *testing.T) {
	url := play(t, podSet)
	for name, test := range map[string]struct{ answer, says string }{
		"what is no YAML":            {`(ask) => ask()`, "line 27: it is neither YAML nor JSON"},
		"too large":                  {`() => Promise.resolve(new Response("files and actions have at most 1 MiB here", { status: 413 }))`, "at most 1 MiB"},
		"too slow":                   {`() => Promise.resolve(new Response("it takes longer than 10s", { status: 503 }))`, "it takes longer than 10s"},
		"nobody answers":             {`() => Promise.reject(new TypeError("Failed to fetch"))`, "does not answer: start it again"},
		"nobody answers for a while": {`() => new Promise(() => {})`, "Playing what is written now"},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, url, desk)
			p.until(played)
			assert.False(t, eval[bool](p, `!!document.querySelector(".veil")`))
			p.answers(test.answer)
			p.typeInto("#x")
			if strings.Contains(test.says, "YAML") {
				p.press("Backspace")
				p.press("Backspace")
				p.write("x")
			}
			p.until(veiled)
			p.until(fmt.Sprintf(`document.querySelector(".veil").innerText.includes(%q)`, test.says))
			assert.Contains(t, eval[string](p, `document.querySelector(".veil").innerText`), "the run of an earlier text")
			assert.Equal(t, "false", eval[string](p, `String(!!document.elementFromPoint(900, 300).closest(".graph"))`), "it lies over the graph")
			if strings.HasPrefix(test.says, "Playing") {
				p.until(`document.querySelector(".veil progress").value > 0.3`)
			} else {
				assert.True(t, eval[bool](p, `document.querySelector(".run").inert`))
				assert.False(t, eval[bool](p, `!!document.querySelector(".command")`), "there is no command of it")
			}
			p.answers(`(ask) => ask()`)
			if test.answer != `(ask) => ask()` && !strings.HasPrefix(test.says, "Playing") {
				p.click("Play again")
			} else {
				p.typeInto(" ")
				p.press("Backspace")
				p.press("Backspace")
			}
			p.until(`!document.querySelector(".veil")`)
			assert.False(t, eval[bool](p, `document.querySelector(".run").inert`))
			assert.Contains(t, p.status(), "Played")
		})
	}
}

// TestARunThatComesSoonIsNotVeiled: the page does not flicker with each key.
func TestARunThatComesSoonIsNotVeiled(t *testing.T) {
	p := open(t, play(t, podSet), desk)
	p.until(played)
	p.answers(`(ask) => ask()`)
	eval[bool](p, `(() => {
		window.seen = 0;
		const look = () => { if (`+veiled+` && document.querySelector(".veil.late")) window.seen++; if (performance.now() - window.begun < 250) requestAnimationFrame(look); };
		window.begun = performance.now();
		look();
		return true;
	})()`)
	p.click("‹")
	p.click("Crash")
	p.until(`document.querySelector(".plan code")`)
	p.until(`performance.now() - window.begun > 300`)
	assert.Zero(t, eval[float64](p, `window.seen`))
	p.until(played)
}

func TestTheTextSurvivesAReload(t *testing.T) {
	url := play(t, podSet)
	p := open(t, url, desk)
	p.until(played)
	p.typeInto("# mine")
	p.click("‹")
	p.click("Crash")
	p.until(`document.querySelector(".plan code")`)
	p.do(chromedp.Reload())
	p.until(`document.querySelectorAll("g.node").length > 0`)
	assert.Contains(t, eval[string](p, `document.querySelector(".cm-content").innerText`), "# mine")
	assert.Contains(t, eval[string](p, `document.querySelector(".plan code").textContent`), "crash PodSet/cache")
	assert.Equal(t, "podset, edited", eval[string](p, `document.querySelector(".top select").selectedOptions[0].text`))

	other := open(t, url, desk)
	assert.NotContains(t, eval[string](other, `document.querySelector(".cm-content").innerText`), "# mine", "another tab has its own")
}

// TestTheOpenSampleIsShown, and the keyboard goes through all of them.
func TestTheOpenSampleIsShown(t *testing.T) {
	p := open(t, play(t), desk)
	p.until(played)
	chosen := func() string { return eval[string](p, `document.querySelector(".top select").value`) }
	assert.Equal(t, "modelbox", chosen())
	assert.Contains(t, eval[string](p, `document.querySelector(".first").textContent`), "choose a Pod in the graph, press Evict")
	p.tabTo(`at.matches(".top select")`)
	var names []string
	for range 3 {
		p.press("ArrowDown")
		p.until(played)
		names = append(names, chosen())
	}
	assert.Equal(t, []string{"myjob", "podbuggertool", "podset-default"}, names)
	p.until(`document.querySelector(".cm-content")?.innerText.includes("kind: PodSet")`)
	p.typeInto("# mine")
	p.until(`document.querySelector(".top select").selectedOptions[0].text === "podset-default, edited"`)
	eval[any](p, `void (() => { const list = document.querySelector(".top select"); list.value = "podset-default"; list.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	p.until(`document.querySelector(".cm-content")?.innerText.includes("# mine") === false`)
}

// TestTheCommandPlaysTheSame: what the page offers to copy prints the run that it shows.
func TestTheCommandPlaysTheSame(t *testing.T) {
	p := open(t, play(t), desk)
	p.until(played)
	p.do(chromedp.Click(chromedp.CSS(`g.node[aria-label*=" Pod "]`)))
	p.click("Evict")
	p.until(`document.querySelector(".plan code")`)
	p.until(played)
	line := eval[string](p, `document.querySelector(".command code").textContent`)
	require.Regexp(t, `^operetta simulate deploy/samples/modelbox\.yaml --evict Pod/sentiment-\w+-\w+@8$`, line)
	assert.False(t, eval[bool](p, `!!document.querySelector(".command .hint")`), "the file is saved")
	page, err := os.ReadFile(strings.TrimPrefix(simulatedIn(t, "../..", strings.Fields(line)[2:]), "file://"))
	require.NoError(t, err)
	shown := eval[string](p, `fetch("html", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(JSON.parse(sessionStorage.getItem("operetta play")).scenario) }).then((answer) => answer.text())`)
	transcript := func(text string) string {
		_, rest, _ := strings.Cut(text, `"transcript":`)
		text, _, _ = strings.Cut(rest, `","`)
		return text
	}
	require.Contains(t, transcript(shown), "evict")
	assert.Equal(t, transcript(shown), transcript(string(page)))
	p.typeInto("# mine")
	p.until(`document.querySelector(".command .hint")?.textContent.includes("modelbox.yaml as it is here: Save… has it")`)
}

// TestConditionsComeFirst, with the time since when on the axis of the slider.
func TestConditionsComeFirst(t *testing.T) {
	p := open(t, play(t), desk)
	p.until(played)
	assert.Equal(t, []string{"Type", "Status", "Reason", "Since"}, eval[[]string](p, `[...document.querySelectorAll(".conditions thead th")].map((each) => each.textContent)`))
	assert.Equal(t, []string{"Ready", "True", "Available", "8s"}, eval[[]string](p, `[...document.querySelector(".conditions tbody tr").children].map((each) => each.textContent)`))
	assert.Equal(t, "3 of 3 replicas are available", eval[string](p, `document.querySelector(".conditions .message").textContent`))
	assert.True(t, eval[bool](p, `!!(document.querySelector(".conditions").compareDocumentPosition(document.querySelector(".actions")) & Node.DOCUMENT_POSITION_FOLLOWING)`))
	p.do(chromedp.Click(chromedp.CSS(`g.node[aria-label*=" Service "]`)))
	p.until(`document.querySelector(".inspector h2").textContent.startsWith("Service/")`)
	assert.False(t, eval[bool](p, `!!document.querySelector(".conditions")`), "it has none")
	p.click("Changes")
	p.click("Vanish")
	p.until(`document.querySelector(".history")?.innerText.includes("deleted by a person")`)
	assert.Contains(t, eval[string](p, `document.querySelector(".history").innerText`), "created by the hook")
	assert.Equal(t, "0s", eval[string](p, `document.querySelector("svg.axis text").textContent.trim()`))
	assert.Greater(t, eval[float64](p, `document.querySelectorAll("svg.axis text").length`), 3.0)
	assert.True(t, eval[bool](p, `[...document.querySelectorAll(".labels .tail")].every((each) => each.scrollWidth <= each.clientWidth + 1)`), "no end of a name is cut")
}

// TestMistakesSayWhatToWrite, and where.
func TestMistakesSayWhatToWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "box.yaml")
	require.NoError(t, os.WriteFile(file, []byte("# a box\napiVersion: model.github.com/v1\nkind: ModelBox\nmetadata: {name: a}\nspec:\n  image: nginx"), 0o600))
	p := open(t, play(t, file), desk)
	p.until(played)
	problem := `document.querySelector(".problems")?.innerText ?? ""`
	p.typeInto("")
	p.press("Enter")
	p.press("Home")
	p.write("  replicas: x")
	p.until(problem)
	assert.Regexp(t, `^error: line 7: spec.replicas: `, eval[string](p, problem))
	assert.NotContains(t, eval[string](p, problem), "nil")
	eval[any](p, `void sessionStorage.clear()`)
	p.press("Home", control)
	p.press("End", control, shift)
	p.press("Backspace")
	p.write("# mine")
	p.until(`(` + problem + `).includes("there is nothing to play: write a custom resource, of the kind Build")`)
	p.press("Enter")
	p.write("apiVersion: v1")
	p.press("Enter")
	p.write("kind: Pod")
	p.press("Enter")
	p.write("metadata: {name: p}")
	p.until(`(` + problem + `).includes("line 3: there is no custom resource of a kind that operetta knows, only Pod of v1: write one of Build of ci.zt.vapi.cc/v1")`)
}
