package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/picture"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// play applies documents, plays, and returns the picture. A document "---" is the end of a round.
func play(t *testing.T, faults []player.Fault, texts ...string) string {
	t.Helper()
	world := player.New(player.Options{Controllers: hooks.All(), Call: player.Direct(hooks.All()...), Faults: faults})
	for _, text := range texts {
		if text == "---" {
			require.NoError(t, world.Play())
			continue
		}
		for _, document := range strings.Split(text, "\n---\n") {
			json, err := documents.ToJSON([]byte(document))
			require.NoError(t, err)
			require.NoError(t, world.Apply(json))
		}
	}
	require.NoError(t, world.Play())
	var out bytes.Buffer
	require.NoError(t, picture.Write(&out, world))
	requireWellFormed(t, out.String())
	return out.String()
}

// requireWellFormed wants an image that needs nothing but itself.
func requireWellFormed(t *testing.T, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if element, isStart := token.(xml.StartElement); isStart {
			require.Contains(t, []string{"svg", "title", "desc", "style", "rect", "path", "circle", "g", "text", "tspan"}, element.Name.Local)
			for _, attr := range element.Attr {
				require.False(t, strings.HasPrefix(attr.Name.Local, "on") || attr.Name.Local == "href", attr)
			}
		}
	}
	require.Regexp(t, `^<svg xmlns="http://www.w3.org/2000/svg" width="900" height="\d+" `, text)
	require.NotContains(t, strings.TrimPrefix(text, `<svg xmlns="http:`), "url(")
}

// description returns what a picture says to those who do not see it.
func description(t *testing.T, text string) string {
	t.Helper()
	match := regexp.MustCompile(`(?s)<desc id="desc">(.*)</desc>`).FindStringSubmatch(text)
	require.NotNil(t, match)
	return match[1]
}

func sample(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../deploy/samples", name+".yaml"))
	require.NoError(t, err)
	return string(text)
}

func TestEverySampleIsDrawn(t *testing.T) {
	paths, err := filepath.Glob("../../../deploy/samples/*.yaml")
	require.NoError(t, err)
	require.Greater(t, len(paths), 6)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		text := play(t, nil, sample(t, name))
		require.Less(t, len(text), 30<<10, name)
		require.Equal(t, text, play(t, nil, sample(t, name)), "%s: the same bytes", name)
		require.Contains(t, text, `<tspan class="m" dx="10">Ready after `, name)
	}
}

func TestAnEvictedPod(t *testing.T) {
	text := play(t, []player.Fault{{What: player.Evict, Kind: "Pod", Name: "cache-1"}}, sample(t, "podset"))
	told := description(t, text)
	require.Contains(t, told, "0s: apply PodSet/cache.\n22s: evict Pod/cache-1.\nPodSet/cache: exists from 0s.\n"+
		"PodSet/cache Ready: False Creating from 0s, False PodsNotReady from 1s, True Ready from 4s, False Creating from 22s, False PodsNotReady from 23s, True Ready from 26s.\n")
	require.Contains(t, told, "Pod/cache-1: pending from 0s, scheduled from 1s, running, not ready from 2s, ready from 3s, failed Evicted from 22s, deleted at 23s.\n")
	require.Contains(t, told, "Pod/cache-3: pending from 22s,")
	require.Equal(t, 1, strings.Count(text, `class="cut"`), "seventeen seconds are cut")
	require.Contains(t, text, ">False PodsNotReady</text>")
	require.Less(t, strings.Index(told, "cache Ready:"), strings.Index(told, "Pod/cache-0"), "conditions come first")
}

// TestWhatIsNoChildIsToldApart: a Deployment of somebody else, and its Pods, which the hook is about.
func TestWhatIsNoChildIsToldApart(t *testing.T) {
	text := play(t, nil, sample(t, "podbuggertool"))
	require.Len(t, regexp.MustCompile(`<text class="i" x="26" y="\d+">(Deployment/shop|Pod/shop-[^<]*)</text>`).FindAllString(text, -1), 3)
	require.Contains(t, text, ">italic: no child</text>")
	require.Equal(t, 2, strings.Count(text, ">spec.ephemeralContainers</text>"))
	require.NotContains(t, play(t, nil, sample(t, "modelbox")), "italic: ")
}

func TestWhatIsDeletedByHandComesAgain(t *testing.T) {
	told := description(t, play(t, []player.Fault{{What: player.Vanish, Kind: "Service", Name: "sentiment"}}, sample(t, "modelbox")))
	require.Contains(t, told, "21s: vanish Service/sentiment.\n")
	require.Contains(t, told, "Service/sentiment: exists from 0s, deleted at 21s, exists from 21s.")
	require.Contains(t, told, "Deployment/sentiment: exists from 0s, 0/3 ready from 1s, 3/3 ready: 0 available from 4s, 3/3 ready from 7s.")
}

func TestAnEditSaysWhatIsEdited(t *testing.T) {
	build := sample(t, "build")
	text := play(t, nil, build, "---", strings.Replace(build, "revision: master", "revision: v2", 1))
	require.Contains(t, description(t, text), "15m2s: edit spec.source.git.revision: master -&gt; v2.")
	require.Contains(t, text, "edit spec.source.git.revision: master -&gt; v2</text>")
}

// TestAConditionEndsWhereItIsTakenAway: ChildrenUpdated is there while a child is not updated.
func TestAConditionEndsWhereItIsTakenAway(t *testing.T) {
	box := sample(t, "modelbox")
	told := description(t, play(t, nil, box, "---", strings.Replace(box, "nginx:1.27", "nginx:1.28", 1)))
	require.Regexp(t, `ModelBox/sentiment ChildrenUpdated: False Requested from 21s, absent from \d+s\.`, told)
}

func TestADeletedCustomResourceEnds(t *testing.T) {
	world := player.New(player.Options{Controllers: hooks.All(), Call: player.Direct(hooks.All()...)})
	json, err := documents.ToJSON([]byte(sample(t, "myjob")))
	require.NoError(t, err)
	require.NoError(t, world.Apply(json))
	require.NoError(t, world.Play())
	world.DeleteParents()
	require.NoError(t, world.Play())
	var out bytes.Buffer
	require.NoError(t, picture.Write(&out, world))
	require.Regexp(t, `>gone after \S+</tspan>`, out.String())
	require.Contains(t, out.String(), ">delete MyJob/hello</text>")
	told := description(t, out.String())
	require.Regexp(t, `(?m)^MyJob/hello: exists from 0s, deleted at \S+\.$`, told)
	require.Regexp(t, `(?m)^MyJob/hello Ready: .*True Succeeded from \S+, absent from \S+\.$`, told)
}

// TestManyObjectsStayReadable: what has no state is in the lane of its component, and is told.
func TestManyObjectsStayReadable(t *testing.T) {
	text := play(t, nil, sample(t, "dataservice"))
	require.LessOrEqual(t, lanes(text), 20)
	require.Contains(t, text, "+n: with n more objects, each a ConfigMap or Service</text>")
	require.Contains(t, description(t, text), "Deployment/web with ConfigMap/web, ConfigMap/web-template, Service/web: exists from 20s, 0/1 ready from 21s, 1/1 ready from 24s.")
	require.Less(t, strings.Index(text, ">StatefulSet/mysql-dataservice +3<"), strings.Index(text, ">Deployment/web +3<"))

	many := strings.Replace(sample(t, "podset"), "size: 3", "size: 300", 1)
	text = play(t, nil, many)
	require.Equal(t, 40, lanes(text))
	require.Contains(t, text, ">264 lanes are left out</text>")
	require.Less(t, len(text), 36<<10)
}

// lanes counts the names to the left of the bars.
func lanes(text string) int {
	return len(regexp.MustCompile(`(?m)^<text class="[nhmi]" x="(?:14|26)"`).FindAllString(text, -1))
}

// TestTextOfUsersIsEscaped: it may close an element, or change the direction of writing.
func TestTextOfUsersIsEscaped(t *testing.T) {
	box := func(value string) string {
		return "apiVersion: model.github.com/v1\nkind: ModelBox\nmetadata: {name: web}\nspec: {image: 'nginx:1', envs: [{name: A, value: " + fmt.Sprintf("%q", value) + "}]}\n"
	}
	text := play(t, nil, box("x"), "---", box("</text><script>a&b\u202e\u0007"))
	require.NotContains(t, text, "<script")
	require.Contains(t, text, `x -&gt; &lt;/text&gt;&lt;script&gt;a&amp;b\u202e\u0007</text>`)
	require.NotContains(t, text, "\u202e")
}

func TestValuesOfSecretsAreNotDrawn(t *testing.T) {
	secret := func(value string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {password: " + value + "}\n"
	}
	text := play(t, nil, sample(t, "modelbox"), secret("hunter1"), "---", secret("hunter2"))
	require.Contains(t, description(t, text), "edit Secret/key data.password.")
	require.NotContains(t, text, "hunter")
}

func TestNothingIsDrawnOfNothing(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, picture.Write(&out, player.New(player.Options{Controllers: hooks.All()})))
	require.Empty(t, out.String())
}
