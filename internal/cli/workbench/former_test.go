package workbench

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

var update = flag.Bool("update", false, "write the page about what the CRDs of the former release admitted")

// formerRelease has what the release before this one was asked, and its answers.
const formerRelease = "../../../e2e/testdata/v0.1.0"

// reviewed is a difference to the answers of the former release.
type reviewed struct{ hook, what, why string }

// differences are all that there are. Those of a message, a reason or a time of a
// condition are what users read; they are named as well.
var differences = []reviewed{
	// What a status remembers, so that a lost write or a late cache makes nothing twice.
	{"build/sync", `status\.(active|asked): \(none\) -> .*`, "a Build remembers its Jobs"},
	{"podset/sync", `status\.(pending|lost): \(none\) -> .*`, "a PodSet remembers the Pods that it has asked for and lost"},
	{"(build|dataservice|modelbox|myjob|podset)/sync", `status\.missingChildren: \(none\) -> .*`, "what was asked for stands in a field, and not in a message only"},
	{"podbuggertool/sync", `status\.notRunning: \(none\) -> 0`, "containers that do not run are counted"},
	{"dataservice/finalize", `status\.components\[\]\.name: \(none\) -> ".*"`, "components are known by their names, for labels can be edited"},

	// What conditions say.
	{"(dataservice|modelbox)/sync", `status\.(components|conditions)\[\]\.message: .* -> .*`, "one text of all kinds for what is not up to date; longer lists of what is waited for"},
	{"modelbox/sync", `status\.conditions\[\]\.reason: "(Creating|Updating)" -> "AsExpected"`, "Degraded follows from one state for all kinds"},
	{"podset/sync", `status\.conditions\[\]\.reason: "Starting" -> "PodsNotReady"`, "Progressing follows from one state for all kinds"},
	{"podset/sync", `status\.conditions\[\]\.(message|reason|status|lastTransitionTime): "(there is nothing to change|Complete|False|2026-[^"]*)" -> .*`,
		"Progressing says how many Pods are ready, and is True while one is not"},

	// What is asked for of children.
	{"dataservice/sync", `StatefulSet\.spec\.podManagementPolicy: \(none\) -> "OrderedReady"`, "immutable: one that is there is asked to have what it has"},
	{"dataservice/sync", `StatefulSet\.spec\.podManagementPolicy: \(none\) -> "Parallel"`, "a new one, so that a broken image can be repaired"},
	{"dataservice/customize", `relatedResources: .*`, "Services and ConfigMaps are looked up by name, to see who has them"},
	{"dataservice/finalize", `(ConfigMap|Deployment|Service|StatefulSet)\.metadata\.(namespace|labels\.controller-uid): ".*" -> \(none\)`,
		"a child that is kept is asked for without what Metacontroller fills in"},
	{"dataservice/finalize", `resyncAfterSeconds: \(none\) -> 30`, "the event of a Pod can be lost"},
	{"dataservice/finalize", `(finalized|status\.components|status\.conditions\[\]\.message): .* -> (true|\(none\)|"everything has gone")`,
		"Pods that nothing deletes are not waited for when no child is left"},
	{"podset/sync", `resyncAfterSeconds: \(none\) -> 600`, "a lost Pod is forgotten after a while"},

	// PodBuggerTool: its permissions are there only while a Job needs them, and before it.
	{"podbuggertool/sync", `(ServiceAccount|Role|RoleBinding) goes`, "no Pod waits for a Job, and nothing is allowed meanwhile"},
	{"podbuggertool/sync", `Role\.rules\[\]\.resourceNames: \(none\) -> .*`, "the Role allows the Pods that wait only"},
	{"podbuggertool/sync", `Job goes`, "it comes later, when the Role is seen to name its Pod"},
	{"podbuggertool/sync", `status\.pods\[\]\.message: ".* does not exist yet" -> .*`, "and the status says so"},
	{"podbuggertool/sync", `status\.conditions\[\]\.(message|reason|status): .*`, "ServiceAccount, Role and Jobs are no longer waited for at once"},
	{"podbuggertool/sync", `resyncAfterSeconds: (\(none\) -> [0-9]+|30 -> \(none\))`, "a Job that is given up, and a Pod whose event is lost, are looked at again"},
}

// lostChildren are the observed children that the former release kept and this one
// does not, by hook and kind.
var lostChildren = map[string]string{
	"podbuggertool/sync ServiceAccount": "no Pod waits for a Job, and nothing is allowed meanwhile",
	"podbuggertool/sync Role":           "no Pod waits for a Job, and nothing is allowed meanwhile",
	"podbuggertool/sync RoleBinding":    "no Pod waits for a Job, and nothing is allowed meanwhile",
}

// formerCases unpacks the recorded requests.
func formerCases(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	archives, err := filepath.Glob(formerRelease + "/requests/*.tar.gz")
	require.NoError(t, err)
	require.Len(t, archives, len(hooks.All()), "one for each kind")
	for _, path := range archives {
		file, err := os.Open(path)
		require.NoError(t, err)
		unpacked, err := gzip.NewReader(file)
		require.NoError(t, err)
		files := tar.NewReader(unpacked)
		for {
			header, err := files.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			require.True(t, fs.ValidPath(header.Name), header.Name)
			text, err := io.ReadAll(files)
			require.NoError(t, err)
			target := filepath.Join(folder, header.Name)
			require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
			require.NoError(t, os.WriteFile(target, text, 0o600))
		}
		require.NoError(t, file.Close())
	}
	return folder
}

// skipInInnerLoop leaves what compares with the former release to make cover: an edit of a hook
// that changes answers fails in its goldens, too.
func skipInInnerLoop(t *testing.T) {
	if testing.Short() {
		t.Skip("compares with the former release, in make cover")
	}
}

// TestAnswersDifferFromTheFormerReleaseAsReviewed asks this version what the former
// release was asked. A new difference wants a line above with its reason, or is a bug; a
// line that nothing needs any more goes.
func TestAnswersDifferFromTheFormerReleaseAsReviewed(t *testing.T) {
	skipInInnerLoop(t)
	code, out, stderr := operetta(t, "", "replay", formerCases(t), "--output=json")
	require.Equal(t, 1, code, stderr)
	var report replayReport
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Greater(t, report.Cases, 150)
	used := map[reviewed]bool{}
	for _, change := range report.Changes {
		found := false
		for _, r := range differences {
			if regexp.MustCompile(`^(?:`+r.hook+`)$`).MatchString(change.Hook) && regexp.MustCompile(`^(?:`+r.what+`)$`).MatchString(change.What) {
				used[r], found = true, true
			}
		}
		if !found {
			t.Errorf("%s: %s, in %d cases as %s", change.Hook, change.What, change.Cases, change.Example)
		}
	}
	for _, r := range differences {
		if !used[r] {
			t.Errorf("nothing is different any more as in %s: %s", r.hook, r.what)
		}
	}
}

// TestNoChildOfTheFormerReleaseIsLost: what is there and was to stay stays, under its name.
func TestNoChildOfTheFormerReleaseIsLost(t *testing.T) {
	skipInInnerLoop(t)
	folder := formerCases(t)
	lost, stay := map[string]bool{}, 0
	require.NoError(t, corpus.Each(folder, hooks.All(), func(c corpus.Case) error {
		var request struct {
			Children map[string]map[string]map[string]any
		}
		require.NoError(t, json.Unmarshal(c.Request, &request))
		decode := func(text []byte) map[string]map[string]any {
			var answer map[string]any
			require.NoError(t, yaml.Unmarshal(text, &answer))
			require.NotContains(t, answer, "error", c.Name)
			return byRef(answer)
		}
		former, err := os.ReadFile(filepath.Join(folder, c.Name+".out.yaml"))
		require.NoError(t, err)
		answer, err := c.Print()
		require.NoError(t, err)
		before, now := decode(former), decode(answer)
		for _, objects := range request.Children {
			for _, child := range objects {
				ref := corpus.Ref(child)
				if before[ref] == nil {
					continue
				}
				stay++
				if now[ref] == nil {
					hook, _, _ := strings.Cut(strings.TrimPrefix(c.Name, c.Controller.Name()+"/"), "/")
					kind, _, _ := strings.Cut(ref, ".")
					lost[c.Controller.Name()+"/"+hook+" "+kind] = true
				}
			}
		}
		return nil
	}))
	require.Greater(t, stay, 500)
	require.Equal(t, slices.Sorted(maps.Keys(lostChildren)), slices.Sorted(maps.Keys(lost)))
}

// formerCRDs returns the CRDs that the former release installs, by their kind in lower
// case.
func formerCRDs(t *testing.T) map[string][]byte {
	t.Helper()
	file, err := os.Open(formerRelease + "/install.yaml.gz")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	unpacked, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	crds := map[string][]byte{}
	for _, document := range strings.Split(string(text), "\n---\n") {
		var object struct {
			Kind string
			Spec struct{ Names struct{ Singular string } }
		}
		require.NoError(t, yaml.Unmarshal([]byte(document), &object))
		if object.Kind == "CustomResourceDefinition" {
			crds[object.Spec.Names.Singular] = []byte(document)
		}
	}
	require.Len(t, crds, len(hooks.All()))
	return crds
}

// formerKind is a kind with the CRDs of the former release and of this one, and what breaks its rules.
type formerKind struct {
	metacontroller.Controller

	was, is *crd.Schema
	rules   map[string]struct{ Message, Before, BadName, Bad string }
}

func formerKinds(t *testing.T) (kinds []formerKind) {
	former := formerCRDs(t)
	for _, c := range hooks.All() {
		_, version, _ := strings.Cut(c.Parent.APIVersion, "/")
		kind := formerKind{Controller: c}
		var err error
		kind.was, err = crd.Load(former[c.Name()], version)
		require.NoError(t, err)
		kind.is, err = crd.Load(c.CRD, version)
		require.NoError(t, err)
		text, err := os.ReadFile("../../../hooks/" + c.Name() + "/testdata/rules.yaml")
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(text, &kind.rules))
		require.NotEmpty(t, kind.rules, c.Name())
		kinds = append(kinds, kind)
	}
	return kinds
}

// TestWhatTheFormerReleaseAdmittedIsNamed: of everything that a rule refuses, the page for
// users has what the CRDs of the former release admitted and stored.
func TestWhatTheFormerReleaseAdmittedIsNamed(t *testing.T) {
	skipInInnerLoop(t)
	const page = "../../../docs/upgrade-from-v0.1.0.md"
	var list strings.Builder
	for _, kind := range formerKinds(t) {
		c, was, is, rules := kind.Controller, kind.was, kind.is, kind.rules
		fmt.Fprintf(&list, "\n## %s\n\n", c.Parent.Kind)
		refused := 0
		for _, name := range slices.Sorted(maps.Keys(rules)) {
			rule := rules[name]
			object := func() map[string]any {
				text, err := yaml.YAMLToJSON([]byte(rule.Bad))
				require.NoError(t, err)
				var spec map[string]any
				require.NoError(t, utiljson.Unmarshal(text, &spec)) // 1 is an int64 there, as in the API server, and not a float64
				return map[string]any{
					"apiVersion": c.Parent.APIVersion, "kind": c.Parent.Kind, "spec": spec,
					"metadata": map[string]any{"name": cmp.Or(rule.BadName, "rule"), "namespace": "default"},
				}
			}
			unknown, errs := was.Admit(t.Context(), object(), nil)
			if _, now := is.Admit(t.Context(), object(), nil); rule.Before == "" && len(unknown) == 0 && len(errs) == 0 && len(now) > 0 {
				refused++
				fmt.Fprintf(&list, "- %s: `%s`\n", name, strings.ReplaceAll(rule.Message, "`", "'"))
			}
		}
		if refused == 0 {
			list.WriteString("Nothing.\n")
		}
	}
	const introduction = `# What the CRDs of v0.1.0 admitted

Custom resources that v0.1.0 stored and the CRDs of this version refuse. One that has any of these keeps its children and is not reconciled until it is edited;
its events quote the message. [operations.md](operations.md#from-v010) has a command that finds them.

Written by ` + "`go test ./internal/cli/workbench -run FormerReleaseAdmitted -update`" + ` from the objects that the tests of the rules break them with.
`
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(introduction+list.String()), 0o644))
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, introduction+list.String(), string(text))
	require.Greater(t, strings.Count(list.String(), "\n- "), 30)
}

// TestWhatTheFormerReleaseStoredCanBeWritten: a label, a finalizer or a deletion of what is stored
// is admitted whatever a new rule says of the spec. The API server leaves out the refusals of what
// has not changed, but not those of a rule that looks for a field that is not there.
func TestWhatTheFormerReleaseStoredCanBeWritten(t *testing.T) {
	skipInInnerLoop(t)
	written := 0
	for _, kind := range formerKinds(t) {
		c, was, is, rules := kind.Controller, kind.was, kind.is, kind.rules
		seen := map[string]bool{}
		for name, rule := range rules {
			for _, spec := range []string{rule.Before, rule.Bad} {
				text, err := yaml.YAMLToJSON([]byte(spec))
				require.NoError(t, err)
				var whole any
				require.NoError(t, utiljson.Unmarshal(text, &whole))
				for _, less := range withoutEach(whole) {
					object := func(labels map[string]any) map[string]any {
						return map[string]any{
							"apiVersion": c.Parent.APIVersion, "kind": c.Parent.Kind, "spec": runtime.DeepCopyJSONValue(less),
							"metadata": map[string]any{"name": "rule", "namespace": "default", "resourceVersion": "1", "labels": labels},
						}
					}
					text, err := json.Marshal(less)
					require.NoError(t, err)
					if seen[string(text)] {
						continue
					}
					seen[string(text)] = true
					stored := object(nil)
					if unknown, errs := was.Admit(t.Context(), stored, nil); len(unknown) > 0 || len(errs) > 0 {
						continue
					}
					is.Complete(stored)
					written++
					if _, errs := is.Admit(t.Context(), object(map[string]any{"a": "b"}), stored); len(errs) > 0 {
						t.Errorf("%s, %q: %v cannot be labelled: %v", c.Name(), name, less, errs.ToAggregate())
					}
				}
			}
		}
	}
	require.Greater(t, written, 100)
}

// withoutEach returns a value and, for each field at any depth, a copy without it.
func withoutEach(value any) []any {
	all := []any{value}
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			for i, less := range withoutEach(inner) {
				copied := maps.Clone(value)
				if copied[key] = less; i == 0 {
					delete(copied, key)
				}
				all = append(all, copied)
			}
		}
	case []any:
		for at, inner := range value {
			for _, less := range withoutEach(inner)[1:] {
				copied := slices.Clone(value)
				copied[at] = less
				all = append(all, copied)
			}
		}
	}
	return all
}
