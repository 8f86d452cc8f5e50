package promtool_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/teststorage"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

var picture = flag.String("picture", "", "write a picture of the dashboard with the test's data to this file, a PNG")

const (
	loadTime   = 40 * time.Second
	scrapeTime = 500 * time.Millisecond
	// rateInterval is what Grafana would choose for this scrape interval.
	rateInterval = "4s"
)

// dashboard is what is read of a Grafana dashboard.
type dashboard struct {
	Title  string  `json:"title"`
	Panels []panel `json:"panels"`
}

type panel struct {
	Type    string `json:"type"`
	Title   string `json:"title"`
	GridPos struct {
		H, W, X, Y int
	} `json:"gridPos"`
	Targets []struct {
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	} `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`

	data []line
}

// line is a series of a panel.
type line struct {
	name   string
	points []promql.FPoint
}

// TestDashboardHasData scrapes a server that answers good and bad requests of all kinds,
// and evaluates the query of each panel with Prometheus' own engine.
func TestDashboardHasData(t *testing.T) {
	text, err := os.ReadFile("../../deploy/monitoring/dashboard.json")
	require.NoError(t, err)
	var board dashboard
	require.NoError(t, json.Unmarshal(text, &board))

	hooks, metrics := serve(t)
	store := teststorage.New(t)
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), loadTime)
	defer cancel()
	var senders sync.WaitGroup
	requests := requestsOf(t)
	for i := range 24 {
		senders.Go(func() { send(ctx, hooks, requests, uint64(i)) }) //nolint:gosec // small
	}
	for ctx.Err() == nil {
		scrape(t, store, metrics)
		time.Sleep(scrapeTime)
	}
	senders.Wait()

	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 10_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Second, Parser: parser.NewParser(parser.Options{})})
	for i := range board.Panels {
		p := &board.Panels[i]
		for _, target := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", rateInterval, "$job", ".*").Replace(target.Expr)
			query, err := engine.NewRangeQuery(t.Context(), store, nil, expr, begin.Add(4*time.Second), begin.Add(loadTime), scrapeTime)
			require.NoError(t, err, expr)
			result := query.Exec(t.Context())
			require.NoError(t, result.Err, expr)
			matrix, err := result.Matrix()
			require.NoError(t, err)
			for _, series := range matrix {
				p.data = append(p.data, line{legend(target.LegendFormat, series.Metric), append([]promql.FPoint{}, series.Floats...)})
			}
			// No hook panics, and no request is large enough to wait for memory.
			if len(matrix) == 0 && !strings.Contains(expr, "panics_total") && !strings.Contains(expr, "memory_waiting") {
				t.Errorf("the panel %q has no data for %s", p.Title, expr)
			}
		}
	}
	if *picture != "" {
		require.NoError(t, draw(board, *picture))
	}
}

// serve starts a server with little room, so that some requests have to wait, and returns
// the addresses of its hooks and its metrics.
func serve(t *testing.T) (hooks, metrics string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "operetta")
	build := exec.Command("go", "build", "-o", program, "./cmd/operetta-server")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	hooks, metrics = freeAddress(t), freeAddress(t)
	server := exec.Command(program, "serve", "--listen="+hooks, "--metrics-listen="+metrics, "--max-body-bytes=1Mi", "--max-in-flight=2", "--log-level=error")
	server.Env = append(os.Environ(), "GOMEMLIMIT=384MiB")
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		require.NoError(t, server.Process.Signal(syscall.SIGTERM))
		require.NoError(t, server.Wait())
	})
	require.Eventually(t, func() bool {
		response, err := http.Get("http://" + metrics + "/readyz")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)
	return hooks, metrics
}

func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

type request struct {
	path string
	body []byte
}

// requestsOf returns requests that were recorded in a cluster, and some that are refused.
func requestsOf(t *testing.T) []request {
	paths, err := filepath.Glob("../testdata/v0.1.0/requests/*.tar.gz")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var list []request
	for _, path := range paths {
		file, err := os.Open(path)
		require.NoError(t, err)
		unzipped, err := gzip.NewReader(file)
		require.NoError(t, err)
		archive := tar.NewReader(unzipped)
		for {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			hook, isRequest := strings.CutSuffix(header.Name, ".in.yaml")
			if !isRequest {
				continue
			}
			text, err := io.ReadAll(archive)
			require.NoError(t, err)
			body, err := yaml.YAMLToJSON(text)
			require.NoError(t, err)
			list = append(list, request{"/" + filepath.Dir(hook), body})
		}
		require.NoError(t, file.Close())
	}
	const podSet = `{"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"a","namespace":"b","uid":"c"},
		"spec":{"size":1,"template":{"spec":{"containers":[{"name":"a","image":"b","command":["%s"]}]}}}},"children":{"Pod.v1":{}},"finalizing":false}`
	whole := len(list)
	for range whole / 40 {
		list = append(list, request{"/podset/sync", []byte(`{}`)}, request{"/podset/sync", fmt.Appendf(nil, podSet, strings.Repeat("x", 300_000))},
			request{"/myjob/sync", bytes.Repeat([]byte(" "), 5<<20)}, request{"/nothing/sync", []byte(`{}`)})
	}
	for range whole / 20 {
		list = append(list, request{"/podset/sync", fmt.Appendf(nil, strings.Replace(podSet, `"size":1,`, `"size":5000,`, 1), strings.Repeat("x", 3000))})
	}
	return list
}

// send sends requests, in bursts that become more and fewer.
func send(ctx context.Context, address string, requests []request, seed uint64) {
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // nothing secret
	for i := 0; ctx.Err() == nil; i++ {
		r := requests[random.IntN(len(requests))]
		post, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+r.path, bytes.NewReader(r.body))
		if err != nil {
			return
		}
		post.Header.Set("Content-Type", "application/json")
		if response, err := http.DefaultClient.Do(post); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		time.Sleep(time.Duration(random.IntN(60)+20*(i/50%4)) * time.Millisecond)
	}
}

// scrape stores the metrics of a server, as Prometheus does.
func scrape(t *testing.T, store *teststorage.TestStorage, address string) {
	response, err := http.Get("http://" + address + "/metrics")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	now := time.Now().UnixMilli()
	p, err := textparse.New(text, "text/plain", labels.NewSymbolTable(), textparse.ParserOptions{})
	require.NoError(t, err)
	appender := store.Appender(t.Context())
	for {
		entry, err := p.Next()
		if err == io.EOF { //nolint:errorlint // as the parser's documentation has it
			break
		}
		require.NoError(t, err)
		if entry != textparse.EntrySeries {
			continue
		}
		_, _, value := p.Series()
		var metric labels.Labels
		p.Labels(&metric)
		builder := labels.NewBuilder(metric)
		builder.Set("job", "operetta").Set("instance", "server-1")
		_, err = appender.Append(0, builder.Labels(), now, value)
		require.NoError(t, err)
	}
	require.NoError(t, appender.Commit())
}

// legend fills in the labels of a series, as Grafana does.
func legend(format string, metric labels.Labels) string {
	if format == "" {
		return strings.Join([]string{metric.Get("kind"), metric.Get("ready"), metric.Get("reason")}, " ")
	}
	metric.Range(func(l labels.Label) { format = strings.ReplaceAll(format, "{{"+l.Name+"}}", l.Value) })
	return format
}
