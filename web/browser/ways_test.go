package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

// TestFaultsEndAsInACluster does some faults with the keyboard, as the first step ends, and wants what
// docs/faults.md says of a ModelBox.
func TestFaultsEndAsInACluster(t *testing.T) {
	url := play(t, "deploy/samples/modelbox.yaml")
	for _, f := range []struct{ kind, button, way, action, ends string }{
		{"Deployment", "Fail", "oom", "fail Deployment/sentiment oom", `not Ready: ProgressDeadlineExceeded: .*: CrashLoopBackOff, after it ended: OOMKilled, exit code 137$`},
		{"Deployment", "Take name", "", "take-name Deployment/sentiment", `not Ready: ChildBlocked: Deployment/sentiment not created after 30s: `},
		{"Pod", "Quota", "", "quota Pod", `not Ready: ProgressDeadlineExceeded: .* Pods cannot be created: .* is forbidden: exceeded quota: `},
		{"Pod", "Refuse", "pod-security", "refuse Pod pod-security", `not Ready: ProgressDeadlineExceeded: .* Pods cannot be created: .* is forbidden: violates PodSecurity "restricted:latest": `},
		{"Deployment", "Lose node", "", "lose-node Deployment/sentiment", `is Ready: Available: 3 of 3 replicas are available$`},
	} {
		t.Run(f.action, func(t *testing.T) {
			p := open(t, url, desk)
			p.until(played)
			p.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`g.node[aria-label*=" %s "]`, f.kind))))
			p.until(fmt.Sprintf(`document.querySelector(".inspector h2")?.textContent.startsWith("%s/")`, f.kind))
			if f.button != "Lose node" { // which happens to Pods that are on one
				p.tabTo(`at.matches("input[type=range]")`)
				p.press("Home")
				p.until(`document.querySelector(".where b").textContent.startsWith("Step 1 of")`)
			}
			if f.way == "" {
				p.tabTo(button(f.button))
			} else {
				p.tabTo(fmt.Sprintf(`at.getAttribute("aria-label") === %q`, f.button+": how"))
				p.write(f.way)
				p.until(fmt.Sprintf(`document.activeElement.value === %q`, f.way))
				assert.Equal(t, f.way, eval[string](p, `document.activeElement.selectedOptions[0].textContent`))
				assert.NotContains(t, eval[string](p, `document.querySelector(".hint").textContent`), "It happens", "it says what that does")
				p.press("Tab", shift)
			}
			p.press("Enter")
			p.until(`document.querySelector(".plan code")`)
			p.until(played)
			assert.Equal(t, f.action, eval[string](p, `document.querySelector(".plan code").textContent`))
			assert.Empty(t, eval[string](p, `document.querySelector(".problem")?.textContent ?? ""`))
			assert.Regexp(t, f.ends, eval[string](p, `document.querySelector(".outcomes li").innerText`))
			assert.True(t, eval[bool](p, `(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(document.querySelector(".outcomes"))`), "all of it is seen")
		})
	}
}
