package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sized is a PodSet of so many Pods.
func sized(t testing.TB, size int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", podSet))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "big.yaml")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "size: 3", fmt.Sprintf("size: %d", size), 1)), 0o600))
	return path
}

// mouse does something at a place.
func (p *tab) mouse(do input.DispatchMouseEventType, x, y, wheel float64) {
	p.Helper()
	event := input.DispatchMouseEventParams{Type: do, X: x, Y: y, DeltaX: 0.01, DeltaY: wheel} // a wheel has both
	if do != input.DispatchMouseEventTypeMouseWheel {
		event.Button, event.Buttons, event.ClickCount = "left", 1, 1
	}
	_, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, event)
	require.NoError(p, err)
}

// drag drags with the left button.
func (p *tab) drag(x, y, dx, dy float64) {
	p.Helper()
	p.mouse(input.DispatchMouseEventTypeMousePressed, x, y, 0)
	for part := range 5 {
		p.mouse(input.DispatchMouseEventTypeMouseMoved, x+dx*float64(part+1)/5, y+dy*float64(part+1)/5, 0)
	}
	p.mouse(input.DispatchMouseEventTypeMouseReleased, x+dx, y+dy, 0)
}

// middle returns the middle of an element.
func (p *tab) middle(selector string) (x, y float64) {
	p.Helper()
	at := eval[[]float64](p, fmt.Sprintf(`((box) => [box.x + box.width / 2, box.y + box.height / 2])(document.querySelector(%q).getBoundingClientRect())`, selector))
	return at[0], at[1]
}

const (
	graphWidth = `document.querySelector(".graph .scroll > svg").getBoundingClientRect().width`
	allIsSeen  = `((home, all) => all.left >= home.left && all.right <= home.right && all.top >= home.top && all.bottom <= home.bottom)
		(document.querySelector(".graph .scroll").getBoundingClientRect(), document.querySelector(".graph .scroll > svg").getBoundingClientRect())`
	scrolled = `document.querySelector(".graph .scroll").scrollTop`
	names    = `[...document.querySelectorAll("g.node")].map((each) => each.getAttribute("aria-label").split(" ").slice(0, 2).join(" "))`
)

// TestTheGraphIsMoved with a mouse: its wheel zooms at the pointer, it drags, and Fit shows all of it.
func TestTheGraphIsMoved(t *testing.T) {
	p := open(t, play(t, "deploy/samples/dataservice.yaml"), look{1440, 900, "light"})
	p.until(played)
	require.False(t, eval[bool](p, allIsSeen), "it is large")
	chosen := eval[string](p, `document.querySelector(".inspector h2").textContent`)
	x, y := p.middle(".graph .scroll")
	p.drag(x, y, 0, -150)
	assert.InDelta(t, 150, eval[float64](p, scrolled), 3)
	assert.Equal(t, chosen, eval[string](p, `document.querySelector(".inspector h2").textContent`), "a drag chooses nothing")
	p.click("Fit")
	p.until(allIsSeen)
	small := eval[float64](p, graphWidth)
	p.mouse(input.DispatchMouseEventTypeMouseWheel, x, y, -300)
	p.until(fmt.Sprintf(`%s > %f`, graphWidth, small*1.3))
	p.mouse(input.DispatchMouseEventTypeMouseWheel, x, y, 300)
	p.until(fmt.Sprintf(`Math.abs(%s - %f) < 2`, graphWidth, small))
	p.click("Full")
	p.until(`getComputedStyle(document.querySelector(".source")).display === "none"`)
	assert.Greater(t, eval[float64](p, `document.querySelector(".graph").clientHeight`), 750.0)
	assert.True(t, eval[bool](p, `document.querySelector(".inspector").clientHeight > 750`), "the chosen object stays")
	p.press("Escape")
	p.until(`getComputedStyle(document.querySelector(".source")).display !== "none"`)
}

// TestPartsOfTheGraphAreHidden by a filter, and by closing what an object owns.
func TestPartsOfTheGraphAreHidden(t *testing.T) {
	p := open(t, play(t), desk)
	p.until(played)
	all := eval[[]string](p, names)
	require.Len(t, all, 7)
	p.do(chromedp.Focus(chromedp.CSS(".strip input")))
	p.write("service")
	p.until(`document.querySelectorAll("g.node").length === 2`)
	assert.ElementsMatch(t, []string{"sentiment ModelBox", "sentiment Service"}, eval[[]string](p, names), "and what owns it")
	p.write("x")
	p.until(`document.querySelector(".scroll .empty")?.textContent.includes("servicex")`)
	for range 8 {
		p.press("Backspace")
	}
	p.until(`document.querySelectorAll("g.node").length === 7`)

	p.tabTo(`at.matches("g.node")`)
	p.press("ArrowDown")
	for range 3 {
		if !strings.Contains(eval[string](p, `document.activeElement.getAttribute("aria-label")`), "Deployment") {
			p.press("ArrowRight")
		}
	}
	require.Contains(t, eval[string](p, `document.activeElement.getAttribute("aria-label")`), "Deployment")
	p.press("-")
	p.until(`document.querySelectorAll("g.node").length === 3`)
	assert.Equal(t, "false", eval[string](p, `document.activeElement.getAttribute("aria-expanded")`), "the focus stays")
	p.until(focusIsSeen)
	p.press("+")
	p.until(`document.querySelectorAll("g.node").length === 7`)
	x, y := p.middle(`g.node[aria-label*=" Deployment "] .toggle rect`)
	p.drag(x, y, 0, 0) // a click
	p.until(`document.querySelectorAll("g.node").length === 3`)
	x, y = p.middle(`g.node[aria-label*=" Deployment "] .toggle rect`)
	p.drag(x, y, 0, 0)
	p.until(`document.querySelectorAll("g.node").length === 7`)
}

// TestManyPodsAreAGroup, which says how they are, and opens.
func TestManyPodsAreAGroup(t *testing.T) {
	p := open(t, play(t, sized(t, 60)), desk)
	p.until(played)
	p.until(`document.querySelector("g.node.group")?.getAttribute("aria-label") === "60 Pods, 60 ready"`)
	p.do(chromedp.Focus(chromedp.CSS(".plan form input")))
	p.write("fail Pod/cache-17")
	p.press("Enter")
	p.until(`document.querySelector("g.node.group")?.getAttribute("aria-label") === "60 Pods, 59 ready, 1 failing"`)
	p.tabTo(`at.matches("g.node")`)
	p.press("ArrowRight")
	p.press("ArrowDown")
	p.until(`document.activeElement.matches("g.node.group")`)
	p.until(focusIsSeen)
	p.press("Enter")
	p.until(`document.querySelectorAll("g.node").length === 61`)
	assert.Contains(t, eval[string](p, `document.activeElement.getAttribute("aria-label")`), "Pod cache-0", "the focus is on the first of them")
	p.press("-")
	p.until(`document.querySelectorAll("g.node").length === 2`)
	p.do(chromedp.Focus(chromedp.CSS(".strip input")))
	p.write("cache-17")
	p.until(`document.querySelectorAll("g.node").length === 2 && !document.querySelector("g.node.group")`)
	assert.Contains(t, eval[string](p, `document.querySelectorAll("g.node")[1].getAttribute("aria-label")`), "cache-17 Pod")
}

// TestPanelsHaveTheSizeThatSomebodyGivesThem, with keys or a mouse, and keep it.
func TestPanelsHaveTheSizeThatSomebodyGivesThem(t *testing.T) {
	p := open(t, play(t, podSet), look{1440, 900, "light"})
	p.until(played)
	size := func(selector, side string) float64 {
		return eval[float64](p, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().%s`, selector, side))
	}
	for _, split := range []struct{ class, key, selector, side string }{
		{"left", "ArrowRight", ".source", "width"}, {"right", "ArrowLeft", ".inspector", "width"}, {"below", "ArrowUp", ".timeline", "height"},
	} {
		before := size(split.selector, split.side)
		p.tabTo(fmt.Sprintf(`at.matches(".split.%s")`, split.class))
		for range 3 {
			p.press(split.key)
		}
		assert.Greater(t, size(split.selector, split.side), before+20, split.class)
	}
	before := size(".source", "width")
	x, y := p.middle(".split.left")
	p.drag(x, y, -120, 0)
	assert.InDelta(t, before-120, size(".source", "width"), 12)
	width, height := size(".source", "width"), size(".timeline", "height")
	p.do(chromedp.Reload())
	p.until(`document.querySelectorAll("g.node").length > 0`)
	assert.InDelta(t, width, size(".source", "width"), 1)
	assert.InDelta(t, height, size(".timeline", "height"), 1)
}

// TestEachScreenHasRoom: a phone, a laptop and a desktop.
func TestEachScreenHasRoom(t *testing.T) {
	url := play(t)
	for _, how := range []look{{1440, 900, "light"}, {1024, 700, "light"}, {390, 844, "light"}} {
		t.Run(fmt.Sprint(how.width), func(t *testing.T) {
			p := open(t, url, how)
			p.until(played)
			fits := func() {
				assert.LessOrEqual(t, eval[float64](p, `document.documentElement.scrollWidth`), float64(how.width), "nothing is wider than the screen")
			}
			fits()
			p.do(chromedp.Click(chromedp.CSS(`g.node[aria-label*=" Pod "]`)))
			p.until(`document.querySelector(".inspector h2")?.textContent.startsWith("Pod/")`)
			fits()
			if how.width > 1000 {
				assert.LessOrEqual(t, eval[float64](p, `document.documentElement.scrollHeight`), float64(how.height), "nothing is below the screen")
				return
			}
			p.until(`getComputedStyle(document.querySelector(".inspector")).position === "fixed"`)
			assert.True(t, eval[bool](p, `((node, sheet) => node.top >= 0 && node.bottom <= sheet.top)(document.querySelector('.node[aria-pressed="true"]').getBoundingClientRect(),
				document.querySelector(".inspector").getBoundingClientRect())`), "what was tapped is seen beside the object")
			small := eval[[]string](p, `[...document.querySelectorAll("button, select, input, g.node, [role=tab]")].filter((each) => {
				const box = each.getBoundingClientRect();
				return box.width > 0 && !each.closest(".cm-editor") && (box.height < 43.5 || box.width < 43.5);
			}).map((each) => each.outerHTML.slice(0, 100))`)
			assert.Empty(t, small, "a finger hits each")
			p.click("Evict")
			p.until(`document.querySelector(".plan code")`)
			p.until(played)
			p.click("×")
			p.press("Escape")
			p.until(`getComputedStyle(document.querySelector(".inspector")).display === "none"`)
		})
	}
}
