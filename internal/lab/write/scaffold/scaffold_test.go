package scaffold

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/deploy"
)

// acme is the module of these tests.
var acme = Module{Path: "example.com/acme/operators", Version: "v0.1.0", Toolchain: "1.26.8"}

// newAcme writes a module with the kind WebApp, and returns its folder.
func newAcme(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "acme")
	plan, err := NewModule(root, acme, Kind{Kind: "WebApp", Version: "v1"})
	require.NoError(t, err)
	_, err = plan.Write()
	require.NoError(t, err)
	return root
}

// contents returns the files below a folder.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path[len(root)+1:]] = string(text)
		return err
	}))
	return all
}

func TestWhatCannotBeAKindIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		kind Kind
		says string
	}{
		"lower case":          {Kind{Kind: "redisCache"}, `"redisCache" is no name of a kind: write it in UpperCamelCase, as in RedisCache`},
		"all capitals":        {Kind{Kind: "REDIS"}, "UpperCamelCase"},
		"with a hyphen":       {Kind{Kind: "Redis-Cache"}, "UpperCamelCase"},
		"a path":              {Kind{Kind: "../Redis"}, "UpperCamelCase"},
		"too long":            {Kind{Kind: "R" + strings.Repeat("e", 63)}, "UpperCamelCase"},
		"a keyword":           {Kind{Kind: "Type"}, "no package can be called type for the kind Type: choose another kind, such as MyType"},
		"an import":           {Kind{Kind: "Operator"}, "no package can be called operator"},
		"no name in Go":       {Kind{Kind: "Init"}, "no package can be called init"},
		"a type of each kind": {Kind{Kind: "Status"}, "choose another kind, such as MyStatus"},
		"there already":       {Kind{Kind: "WebApp"}, "the kind WebApp is there already, in hooks/webapp"},
		"there in other case": {Kind{Kind: "Webapp"}, "the kind Webapp is there already"},
		"a file of each kind": {Kind{Kind: "Sync"}, "no package can be called sync"},
		"of the community":    {Kind{Kind: "Redis", Group: "cache.x.k8s.io"}, `"cache.x.k8s.io" is a group of the Kubernetes community`},
		"a group alone":       {Kind{Kind: "Redis", Group: "cache"}, `"cache" is no API group of yours`},
		"no version":          {Kind{Kind: "Redis", Version: "1"}, `"1" is no version: write one such as --version v1alpha1`},
		"a short name taken":  {Kind{Kind: "Redis", ShortName: "rc"}, "the short name rc belongs to replicationcontrollers: write another with --short-name"},
		"one of another kind": {Kind{Kind: "Redis", ShortName: "wa"}, "another kind in hooks/ has the short name wa: write another"},
		"no such children":    {Kind{Kind: "Redis", Children: "Pod,Ingress"}, `"Pod,Ingress": write --children with one of ConfigMap | Deployment | Deployment,Service | Job | Pod | StatefulSet,Service`},
		"no short name":       {Kind{Kind: "Redis", ShortName: "R"}, `"R" is no short name`},
	} {
		t.Run(name, func(t *testing.T) {
			root := newAcme(t)
			before := contents(t, root)
			if test.kind.Version == "" {
				test.kind.Version = "v1"
			}
			_, err := NewKind(root, test.kind)
			require.ErrorContains(t, err, test.says)
			require.Equal(t, before, contents(t, root))
		})
	}
}

func TestNewModuleRequiresWhatItIsMadeWith(t *testing.T) {
	for want, module := range map[string]Module{
		"\nrequire github.com/operetta-dev/operetta v0.1.0\n\n// Those that Operetta is built with.\nrequire (\n\tk8s.io/api v0.36.3\n\tk8s.io/apimachinery v0.36.3\n)\n": {
			Version: "v0.1.0", Kubernetes: "v0.36.3",
		},
		"\nrequire github.com/operetta-dev/operetta v0.0.0\n\n// The source that this module was started from, which has no version to download.\n" +
			"replace github.com/operetta-dev/operetta => \"/a clone\"\n": {Clone: "/a clone"},
		"": {},
	} {
		module.Path, module.Toolchain = acme.Path, acme.Toolchain
		plan, err := NewModule(t.TempDir(), module, Kind{Kind: "WebApp", Version: "v1"})
		require.NoError(t, err)
		require.Equal(t, "module example.com/acme/operators\n\ngo 1.26.0\n"+want, string(plan.created["go.mod"]))
	}
}

// TestNoFileOfAKindIsWrittenTwice: a kind that is called as one of them would take its place.
func TestNoFileOfAKindIsWrittenTwice(t *testing.T) {
	root, refused := newAcme(t), 0
	for _, f := range append(files[:len(files):len(files)], observeFile) {
		base, isGo := strings.CutSuffix(filepath.Base(f.path), ".go")
		if !isGo || base == "NAME" {
			continue
		}
		refused++
		_, err := NewKind(root, Kind{Kind: strings.ToUpper(base[:1]) + base[1:], Version: "v1"})
		require.ErrorContains(t, err, "choose another kind", base)
	}
	require.Equal(t, 6, refused)
}

func TestWhatIsNoProjectIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(root string) error
		says  string
	}{
		"no module":        {func(root string) error { return os.Remove(filepath.Join(root, "go.mod")) }, "has no go.mod: run this in the root of a project, or start one with --module"},
		"no list":          {func(root string) error { return os.Remove(filepath.Join(root, lists[0].path)) }, "has no hooks/hooks.go with a function All"},
		"no invariants":    {func(root string) error { return os.Remove(filepath.Join(root, lists[1].path)) }, "has no hooks/invariants/invariants.go with a function All"},
		"list from others": {func(root string) error { return replace(root, lists[0].path, "func All()", "func Most()") }, "has no function All that returns a literal"},
		"a file there": {func(root string) error {
			return os.WriteFile(filepath.Join(root, "deploy/samples/redis.yaml"), []byte("mine"), 0o600)
		}, "deploy/samples/redis.yaml: there already"},
	} {
		t.Run(name, func(t *testing.T) {
			root := newAcme(t)
			require.NoError(t, test.spoil(root))
			before := contents(t, root)
			_, err := NewKind(root, Kind{Kind: "Redis", Version: "v1"})
			require.ErrorContains(t, err, test.says)
			require.Equal(t, before, contents(t, root))
		})
	}
}

// replace replaces a text in a file.
func replace(root, path, old, new string) error {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, path), []byte(strings.Replace(string(text), old, new, 1)), 0o600)
}

func TestKindIsLikeTheOthersOfTheProject(t *testing.T) {
	root := newAcme(t)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "docs"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "docs/webapp.md"), []byte("# WebApp"), 0o600))
	require.NoError(t, replace(root, "hooks/webapp/types.go", "categories=operators", "categories=acme"))
	plan, err := NewKind(root, Kind{Kind: "WebAlert", Version: "v1beta1"})
	require.NoError(t, err)
	done, err := plan.Write()
	require.NoError(t, err)
	require.Contains(t, done, "changed "+lists[0].path)
	require.Contains(t, done, "changed "+lists[1].path)
	require.Contains(t, done, "created docs/webalert.md", "WebApp has a page")
	require.NotContains(t, done, "created hooks/testdata/explore/webalert.yaml", "WebApp has none")
	types := contents(t, root)["hooks/webalert/types.go"]
	require.Contains(t, types, "// +groupName=acme.example.com\n// +versionName=v1beta1\n")
	require.Contains(t, types, "path=webalerts,singular=webalert,scope=Namespaced,shortName=wea,categories=acme\n", "wa is that of WebApp")

	_, err = plan.Write()
	require.ErrorContains(t, err, "there already", "it writes over nothing")
}

func TestShortNameIsOneThatIsFree(t *testing.T) {
	for kind, want := range map[string]string{"RedisCache": "rec", "Redis": "re", "PodSet": "pos", "ConfigMapper": "com", "WebApp": "wa"} {
		require.Equal(t, want, Kind{Kind: kind}.freeShortName(project{shortNames: []string{"ps"}}), kind)
	}
}

func TestWhatCannotBeAModuleIsRefused(t *testing.T) {
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "main.go"), []byte("package main"), 0o600))
	empty := t.TempDir()
	for name, test := range map[string]struct{ root, path, kind, says string }{
		"no domain":        {empty, "acme/operators", "WebApp", "write a domain and a path in lower case"},
		"a domain alone":   {empty, "example.com", "WebApp", "is no path of a module"},
		"upper case":       {empty, "example.com/Acme", "WebApp", "is no path of a module"},
		"text in it":       {empty, "example.com/a\nb", "WebApp", "is no path of a module"},
		"too long":         {empty, "example.com/" + strings.Repeat("a", 41), "WebApp", "at most 40 characters after example.com/"},
		"begins with 1":    {empty, "example.com/1st", "WebApp", "beginning with a letter"},
		"that of Operetta": {empty, "github.com/operetta-dev/operetta", "WebApp", "is the module that a new one requires: write a path of yours"},
		"a folder in use":  {full, acme.Path, "WebApp", "is not empty, it has main.go: write a folder that is new"},
		"kind is no kind":  {empty, acme.Path, "webApp", "UpperCamelCase"},
		"a file as folder": {filepath.Join(full, "main.go"), acme.Path, "WebApp", "looking into the folder of the new module"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewModule(test.root, Module{Path: test.path, Toolchain: "1.26.8"}, Kind{Kind: test.kind, Version: "v1"})
			require.ErrorContains(t, err, test.says)
		})
	}
	require.Empty(t, contents(t, empty))
}

func TestModuleIsServedAsThisOneIs(t *testing.T) {
	files := contents(t, newAcme(t))
	require.Equal(t, "module example.com/acme/operators\n\ngo 1.26.0\n\nrequire github.com/operetta-dev/operetta v0.1.0\n", files["go.mod"])
	for _, name := range []string{"namespace.yaml", "kustomization.yaml", "server/deployment.yaml", "server/networkpolicy.yaml", "server/service.yaml"} {
		ours, err := deploy.Server.ReadFile(name)
		require.NoError(t, err)
		require.NotContains(t, files["deploy/"+name], "operetta")
		again := strings.NewReplacer("example.com/acme/operators", "ghcr.io/operetta-dev/operetta", "acme-operators", "operetta").Replace(files["deploy/"+name])
		tag := regexp.MustCompile("newTag: .*")
		require.Equal(t, tag.ReplaceAllString(string(ours), "newTag: v0.1.0"), again)
	}
	require.Contains(t, files["deploy/server/deployment.yaml"], "readOnlyRootFilesystem: true")
	require.Contains(t, files["Makefile"], "--prefix acme-operators- --namespace acme-operators-system --service acme-operators\n")

	plan, err := NewModule(filepath.Join(t.TempDir(), "new"), Module{Path: acme.Path, Toolchain: "1.26.8"}, Kind{Kind: "WebApp", Version: "v1"})
	require.NoError(t, err)
	require.NotContains(t, string(plan.created["go.mod"]), "require", "go get writes it")
}

// TestAModuleNamesOnlyFilesThatItHas: comments of templates, and of manifests that are those of this
// repository, may name a file that another module does not get.
func TestAModuleNamesOnlyFilesThatItHas(t *testing.T) {
	module := acme
	module.Clone = "/a/clone"
	root := filepath.Join(t.TempDir(), "acme")
	plan, err := NewModule(root, module, Kind{Kind: "WebApp", Version: "v1"})
	require.NoError(t, err)
	_, err = plan.Write()
	require.NoError(t, err)
	for children := range choices {
		kind := Kind{Kind: "My" + strings.ReplaceAll(children, ",", ""), Version: "v1", Children: children}
		plan, err := NewKind(root, kind)
		require.NoError(t, err)
		_, err = plan.Write()
		require.NoError(t, err)
	}
	files, checked := contents(t, root), 0
	named := regexp.MustCompile("(?m)(^|[\\s`'\"(=./])((cmd|deploy|docs|e2e|hooks|internal|release|testdata|overlays|components|metacontroller|server|monitoring)/[-\\w./*]*|[-\\w]+\\.(go|md|yaml|mod|sum|txt|sh))")
	for path, text := range files {
		if filepath.Base(path) == "go.mod" {
			continue
		}
		text = regexp.MustCompile(`https?://[^\s)]*|(github\.com|k8s\.io|example\.com)/[-\w./]*`).ReplaceAllString(text, "") // packages and images
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			name := strings.TrimRight(found[2], "/.")
			checked++
			isThere := name == "out.yaml" || name == "go.sum"
			for _, from := range []string{"", filepath.Dir(path), "deploy"} {
				pattern := filepath.Join(root, from, name)
				matches, err := filepath.Glob(pattern)
				require.NoError(t, err)
				isThere = isThere || len(matches) > 0
			}
			if !isThere {
				t.Errorf("%s names %s, which the module does not have", path, name)
			}
		}
	}
	require.Greater(t, checked, 20)
}
