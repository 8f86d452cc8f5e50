package browser

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// label is what a button is called, without the words that say what it does.
const label = `(each.querySelector("b") ?? each).textContent.trim()`

// click clicks the button with a text, wherever it is.
func (p *tab) click(text string) {
	p.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll("button")].some((each) => %s === %q && !each.disabled)`, label, text))
	eval[any](p, fmt.Sprintf(`void [...document.querySelectorAll("button")].find((each) => %s === %q).click()`, label, text))
}

// audit asks axe what of the page somebody cannot use, and returns what is serious.
func (p *tab) audit(axe string) []string {
	p.Helper()
	eval[any](p, "void (() => {"+axe+"})()")
	return eval[[]string](p, `axe.run().then((found) => found.violations
		.filter((each) => ["serious", "critical"].includes(each.impact))
		.map((each) => each.id + ": " + each.help + ": " + each.nodes.slice(0, 2).map((node) => node.html.slice(0, 120) + " " + node.failureSummary).join(" | ")))`)
}

func TestEverybodyCanUseIt(t *testing.T) {
	browser(t)
	axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not installed: make page does it")
	}
	url := play(t, podSet)
	for _, how := range []look{desk, {1440, 900, "dark"}, {1024, 700, "light"}, {390, 844, "light"}, {390, 844, "dark"}} {
		t.Run(fmt.Sprintf("%d %s", how.width, how.scheme), func(t *testing.T) {
			p := open(t, url, how)
			check := func(what string) { assert.Empty(t, p.audit(string(axe)), what) }
			check("the page")
			p.click("‹")
			p.do(chromedp.Click(chromedp.CSS(`g.node[aria-label^="cache-0 Pod"]`)))
			p.click("Fail")
			p.click("Events")
			p.click("Changes")
			check("an action, events and changes")
			for _, dialog := range []string{"Edit…", "Save…", "Share…"} {
				p.click(dialog)
				p.until(`document.querySelector("dialog[open]")`)
				check(dialog)
				p.press("Escape")
				p.until(`!document.querySelector("dialog")`)
			}
			p.do(chromedp.Focus(chromedp.CSS(".cm-content")))
			p.press("End", control)
			p.write("nonsense")
			p.until(`document.querySelector(".problems")`)
			check("problems")
			assert.LessOrEqual(t, eval[float64](p, `document.documentElement.scrollWidth`), float64(how.width), "nothing is wider than the screen")
		})
	}
	p := open(t, play(t, "deploy/samples/modelbox.yaml"), desk)
	assert.Empty(t, p.audit(string(axe)), "long names")
	file := exported(t, url)
	for _, how := range []look{desk, {360, 740, "dark"}} {
		p := open(t, file, how)
		assert.Empty(t, p.audit(string(axe)), "the exported file")
	}
}

// slide moves the slider through the whole run, some times over, and returns how long each step takes until
// it is laid out: the shortest of its times, for the others are those of a machine that is busy.
const slide = `(async () => {
	const slider = document.querySelector("input[type=range]");
	const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
	const times = [];
	for (let round = 0; round < 5; round++) {
		for (let step = 1; step <= Number(slider.max); step++) {
			await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
			const start = performance.now();
			set.call(slider, step);
			slider.dispatchEvent(new Event("input", { bubbles: true }));
			while (!document.querySelector(".where b").textContent.startsWith("Step " + step + " ")) await null;
			document.body.getBoundingClientRect();
			times[step - 1] = Math.min(times[step - 1] ?? Infinity, performance.now() - start);
		}
	}
	return times;
})()`

// retype changes the size of a PodSet to and fro, and returns how long it takes until the graph has it.
const retype = `(async () => {
	const content = document.querySelector(".cm-content");
	content.focus();
	const times = [];
	for (let turn = 0; turn < 20; turn++) {
		const line = [...content.querySelectorAll(".cm-line")].find((each) => each.textContent.startsWith("  size: "));
		const size = Number(line.textContent.slice(8));
		const next = turn % 2 ? size + 1 : size - 1;
		const range = document.createRange();
		range.selectNodeContents(line);
		getSelection().removeAllRanges();
		getSelection().addRange(range);
		await new Promise((done) => setTimeout(done, 50));
		const start = performance.now();
		document.execCommand("insertText", false, "  size: " + next);
		while (document.querySelectorAll("g.node").length !== next + 1) await new Promise((done) => setTimeout(done));
		document.body.getBoundingClientRect();
		times.push(performance.now() - start);
	}
	return times;
})()`

func p95(times []float64) float64 {
	slices.Sort(times)
	return times[len(times)*95/100]
}

// BenchmarkPage tells how long the page takes: p95-edit-ms from an edit to the graph is to stay below
// 300, and p95-slider-ms at 300 nodes below 50.
func BenchmarkPage(b *testing.B) {
	browser(b)
	for b.Loop() {
		p := open(b, play(b, podSet), desk)
		b.ReportMetric(p95(eval[[]float64](p, retype)), "p95-edit-ms")
		p = open(b, play(b, sized(b, 299)), desk)
		p.until(`document.querySelector("g.node.group")`)
		p.do(chromedp.Click(chromedp.CSS("g.node.group"))) // which opens it
		p.until(`document.querySelectorAll("g.node").length === 300`)
		b.ReportMetric(p95(eval[[]float64](p, slide)), "p95-slider-ms")
	}
}

var update = flag.Bool("update", false, "write the picture of the README")

func TestPicture(t *testing.T) {
	p := open(t, play(t, "deploy/samples/modelbox.yaml"), look{1280, 760, "light"})
	p.until(played)
	p.do(chromedp.Click(chromedp.CSS(`g.node[aria-label*=" Pod "]`)))
	p.do(chromedp.Focus(chromedp.CSS("input[type=range]")))
	p.click("‹")
	p.click("Evict")
	p.until(`document.querySelector(".plan code")`)
	p.until(`document.querySelector(".where").textContent.includes("evict")`)
	eval[any](p, `void document.activeElement.blur()`)
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	picture := paletted(t, shot)
	assert.Less(t, len(picture), 150<<10)
	if *update {
		require.NoError(t, os.WriteFile("../../docs/images/play.png", picture, 0o644))
	}
}

// paletted returns a picture with the 256 colours that it has most of: it is a third as large then.
func paletted(t *testing.T, shot []byte) []byte {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	count := map[color.RGBA]int{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			count[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, colour := range colours[:min(256, len(colours))] {
		palette = append(palette, colour)
	}
	small := image.NewPaletted(picture.Bounds(), palette)
	draw.Draw(small, small.Bounds(), picture, image.Point{}, draw.Src)
	var text bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&text, small))
	return text.Bytes()
}
