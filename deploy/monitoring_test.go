package deploy_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/internal/metrics"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// alerts are the groups of a file of rules.
type alerts struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

// monitor is what the Prometheus operator scrapes.
type monitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector            metav1.LabelSelector `json:"selector"`
		Endpoints           []endpoint           `json:"endpoints"`
		PodMetricsEndpoints []endpoint           `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

type endpoint struct {
	Port          string `json:"port"`
	Interval      string `json:"interval"`
	ScrapeTimeout string `json:"scrapeTimeout"`
}

// expressions returns those of the alerts and of the dashboard.
func expressions(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, group := range read[alerts](t, "monitoring/rules.yaml").Groups {
		for _, rule := range group.Rules {
			found = append(found, rule.Expr)
		}
	}
	text, err := os.ReadFile("monitoring/dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title, Type, Description string
			Targets                  []struct{ Expr string }
		}
		Templating struct{ List []struct{ Definition string } }
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	for _, panel := range dashboard.Panels {
		require.Equal(t, panel.Type == "row", len(panel.Targets) == 0, panel.Title)
		require.Equal(t, panel.Type == "row", panel.Description == "", panel.Title)
		for _, target := range panel.Targets {
			found = append(found, target.Expr)
		}
	}
	for _, variable := range dashboard.Templating.List {
		if variable.Definition != "" {
			found = append(found, variable.Definition)
		}
	}
	require.Greater(t, len(found), 30)
	return found
}

// scraped returns the metrics that the server has, with the names of their labels.
func scraped(t *testing.T) map[string][]string {
	t.Helper()
	none := func() int64 { return 0 }
	share := []metrics.Share{{Part: "small", Used: none, Waiting: none}}
	m := metrics.New(metrics.Options{Controllers: hooks.All(), Load: metrics.Load{Requests: none, Connections: none, Memory: share, Slots: share}})
	m.Route("podset", metacontroller.SyncHook).Count(metrics.Request{Code: http.StatusOK, Answer: &metacontroller.Answer{
		Ready: metacontroller.ReadyCondition{Status: "True", Reason: "Ready"},
	}})
	families, err := m.Registry().Gather()
	require.NoError(t, err)
	found := map[string][]string{}
	for _, family := range families {
		labels := []string{"job", "instance"} // of every target
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		name := family.GetName()
		found[name] = labels
		if family.GetMetric()[0].GetHistogram() != nil {
			found[name+"_sum"], found[name+"_count"], found[name+"_bucket"] = labels, labels, append(labels, "le")
		}
	}
	return found
}

var (
	selectors = regexp.MustCompile(`\b((?:operetta|go|process)_[a-z0-9_]+)(?:\{([^}]*)\})?`)
	matchers  = regexp.MustCompile(`(\w+)\s*(?:=~|!=|!~|=)\s*"`)
	grouping  = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// unknown returns what an expression names that is not there.
func unknown(expr string, known map[string][]string) (names []string) {
	var all []string
	for _, selector := range selectors.FindAllStringSubmatch(expr, -1) {
		labels, found := known[selector[1]]
		if !found {
			names = append(names, selector[1])
		}
		for _, matcher := range matchers.FindAllStringSubmatch(selector[2], -1) {
			if !slices.Contains(labels, matcher[1]) {
				names = append(names, selector[1]+"."+matcher[1])
			}
		}
		all = append(all, labels...)
	}
	for _, group := range grouping.FindAllStringSubmatch(expr, -1) {
		for _, label := range strings.Split(group[1], ", ") {
			if !slices.Contains(all, label) {
				names = append(names, label)
			}
		}
	}
	return names
}

// TestMonitoringNamesWhatThereIs: an alert on a metric that nobody has never fires.
func TestMonitoringNamesWhatThereIs(t *testing.T) {
	known := scraped(t)
	for _, expr := range expressions(t) {
		require.Regexp(t, selectors, expr)
		require.Empty(t, unknown(expr, known), expr)
	}
	require.Equal(t, []string{"operetta_parents.names", "operetta_no_such_total", "pod"},
		unknown(`sum by (kind, pod) (operetta_parents{names="a"} + operetta_no_such_total)`, known))
}

// TestAlertsSayWhatToDo, are tried, and select reasons that there are.
func TestAlertsSayWhatToDo(t *testing.T) {
	tried, err := os.ReadFile("monitoring/rules.test.yaml")
	require.NoError(t, err)
	page, err := os.ReadFile("../docs/metrics.md")
	require.NoError(t, err)
	known := operator.Reasons()
	for _, c := range hooks.All() {
		known = append(known, c.Reasons...)
	}
	selects := 0
	for _, rule := range read[alerts](t, "monitoring/rules.yaml").Groups[0].Rules {
		require.Regexp(t, "^Operetta[A-Z]", rule.Alert)
		require.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], rule.Alert)
		require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		require.NotEmpty(t, rule.Annotations["description"], rule.Alert)
		require.Contains(t, string(page), "\n| "+rule.Alert+" | "+rule.Labels["severity"]+" | ")
		fires := strings.Contains(string(tried), `alertname="`+rule.Alert+`"`) ||
			strings.Contains(string(tried), "alertname: "+rule.Alert+"\n    exp_alerts:\n    -")
		require.True(t, fires, "no test has %s fire", rule.Alert)
		if _, selected, found := strings.Cut(rule.Expr, `operetta_parents{ready="False", reason=~"`); found {
			selected, _, _ = strings.Cut(selected, `"`)
			require.Subset(t, known, strings.Split(selected, "|"))
			selects++
		}
	}
	require.Equal(t, 1, selects, "alerts that select reasons")
}

func TestThePrometheusRuleHasTheAlerts(t *testing.T) {
	rule := read[struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              alerts `json:"spec"`
	}](t, "components/prometheus-rules/prometheusrule.yaml")
	require.Equal(t, "monitoring.coreos.com/v1", rule.APIVersion)
	require.Equal(t, manifests.Operetta().Namespace, rule.Namespace)
	require.Equal(t, read[alerts](t, "monitoring/rules.yaml"), rule.Spec)
}

// TestMonitorsFindTheServer on its port for metrics, and never on that of the hooks.
func TestMonitorsFindTheServer(t *testing.T) {
	pod := deployment(t).Spec.Template
	service := read[corev1.Service](t, "components/service-monitor/service.yaml")
	require.Equal(t, service.Spec.Selector, pod.Labels)
	require.Len(t, service.Spec.Ports, 1)
	require.Equal(t, "metrics", service.Spec.Ports[0].TargetPort.StrVal)
	for path, selects := range map[string]map[string]string{
		"components/service-monitor/servicemonitor.yaml": service.Labels,
		"components/pod-monitor/podmonitor.yaml":         pod.Labels,
	} {
		m := read[monitor](t, path)
		require.Equal(t, manifests.Operetta().Namespace, m.Namespace)
		require.NotEqual(t, manifests.Operetta().Service, service.Name)
		selector, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
		require.NoError(t, err)
		require.True(t, selector.Matches(labelSet(selects)), path)
		require.False(t, path == "components/service-monitor/servicemonitor.yaml" &&
			selector.Matches(labelSet(read[corev1.Service](t, "server/service.yaml").Labels)), "that of the hooks")
		endpoints := slices.Concat(m.Spec.Endpoints, m.Spec.PodMetricsEndpoints)
		require.Equal(t, []endpoint{{Port: "metrics", Interval: "30s", ScrapeTimeout: "10s"}}, endpoints)
	}
}

// labelSet are labels that a selector can look at.
type labelSet map[string]string

func (s labelSet) Has(label string) bool { _, found := s[label]; return found }

func (s labelSet) Get(label string) string { return s[label] }

func (s labelSet) Lookup(label string) (string, bool) { value, found := s[label]; return value, found }

// TestMonitoringComponentsBuild with everything else.
func TestMonitoringComponentsBuild(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("there is no kubectl")
	}
	dir := t.TempDir()
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	relative, err := filepath.Rel(dir, here)
	require.NoError(t, err)
	text := "resources: [" + relative + "]\ncomponents:\n"
	wanted := []string{"PrometheusRule", "ServiceMonitor", "PodMonitor"}
	for _, name := range []string{"prometheus-rules", "service-monitor", "pod-monitor"} {
		text += "- " + relative + "/components/" + name + "\n"
		listed := read[kustomization](t, "components/"+name+"/kustomization.yaml").Resources
		files, err := filepath.Glob("components/" + name + "/*.yaml")
		require.NoError(t, err)
		require.Len(t, files, len(listed)+1, "every file is listed")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600))
	out, err := exec.Command(kubectl, "kustomize", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, document := range strings.Split(string(out), "\n---\n") {
		var object metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(document), &object))
		wanted = slices.DeleteFunc(wanted, func(kind string) bool { return kind == object.Kind })
	}
	require.Empty(t, wanted, string(out))
}
