package page

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/lab/run"
)

// fake plays nothing, and answers the number of files.
type fake struct {
	run func(ctx context.Context) error
}

func (f fake) Check(s Scenario) []Problem { return make([]Problem, len(s.Files)) }

func (f fake) Run(ctx context.Context, s Scenario) (*Run, error) {
	if f.run != nil {
		if err := f.run(ctx); err != nil {
			return nil, err
		}
	}
	return &Run{Run: run.Run{Transcript: strings.Repeat("x", 2000*len(s.Files))}}, nil
}

func (f fake) Golden(context.Context, Scenario) ([]Case, error) { return nil, nil }
func (f fake) Story(context.Context, Scenario) (string, error)  { return "", errors.New("no story") }

// handler returns the page at 127.0.0.1:1.
func handler(run func(ctx context.Context) error) http.Handler {
	return Handler(Options{Player: fake{run}, Hosts: []string{"127.0.0.1:1", "localhost:1"}, Start: Start{Program: "operetta"}})
}

// ask asks as the page does, unless the header says something else.
func ask(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestOthersAreRefused: another page has another Origin, and one whose name was made to resolve to
// this machine has another Host.
func TestOthersAreRefused(t *testing.T) {
	h := handler(nil)
	for _, test := range []struct {
		method, path string
		header       []string
		code         int
	}{
		{"GET", "/", nil, 200},
		{"GET", "/", []string{"Host", "localhost:1"}, 200},
		{"GET", "/", []string{"Host", "evil.example.com"}, 403},
		{"GET", "/", []string{"Host", "evil.example.com:1"}, 403},
		{"GET", "/", []string{"Host", "127.0.0.1"}, 403},
		{"GET", "/", []string{"Host", "127.0.0.1:2"}, 403},
		{"GET", "/", []string{"Sec-Fetch-Site", "cross-site"}, 200}, // a link leads here
		{"GET", "/start", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", "/start", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"GET", "/start", []string{"Origin", "http://evil.example.com"}, 403},
		{"GET", "/start", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"POST", "/run", []string{"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-origin"}, 200},
		{"POST", "/run", []string{"Origin", "http://localhost:1", "Host", "localhost:1"}, 200},
		{"POST", "/run", []string{"Origin", "http://localhost:1"}, 403},
		{"POST", "/run", []string{"Origin", "https://127.0.0.1:1"}, 403},
		{"POST", "/run", []string{"Origin", "null"}, 403},
		{"POST", "/run", []string{"Origin", "http://127.0.0.1:2"}, 403},
		{"POST", "/run", []string{"Host", "evil.example.com", "Origin", "http://evil.example.com"}, 403},
		{"POST", "/run", []string{"Content-Type", "text/plain"}, 415},
		{"GET", "/run", nil, 405},
		{"GET", "/page/play.js", nil, 404},
		{"POST", "/story", nil, 400},
	} {
		w := ask(h, test.method, test.path, "{}", test.header...)
		require.Equal(t, test.code, w.Code, "%+v: %s", test, w.Body)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))
	}
}

// TestOnlyTheNonceRuns: nothing is allowed inline, and no answer has the nonce of another.
func TestOnlyTheNonceRuns(t *testing.T) {
	nonces := map[string]bool{}
	for range 2 {
		w := ask(handler(nil), "GET", "/", "")
		policy := w.Header().Get("Content-Security-Policy")
		require.NotContains(t, policy, "unsafe")
		require.NotContains(t, policy, "http")
		require.Contains(t, policy, "default-src 'none'")
		found := regexp.MustCompile(`script-src 'nonce-(\w{20,})'; style-src 'nonce-(\w{20,})'`).FindStringSubmatch(policy)
		require.NotNil(t, found, policy)
		require.Equal(t, found[1], found[2])
		nonces[found[1]] = true
		page := w.Body.String()
		require.NotContains(t, page, "__NONCE__")
		tags := regexp.MustCompile(`<(script|style|link)\b[^>]*>`).FindAllString(page, -1)
		require.NotEmpty(t, tags)
		for _, tag := range tags {
			require.Contains(t, tag, `nonce="`+found[1]+`"`)
		}
		require.NotRegexp(t, `\s(style|on[a-z]+)=`, page)
	}
	require.Len(t, nonces, 2)
}

func TestLimitsOfAScenario(t *testing.T) {
	h := handler(nil)
	for body, code := range map[string]int{
		`{"files":[{"name":"a","text":"b"}]}`: 200,
		`{`:                                   400,
		`[]`:                                  400,
		`{"file":[]}`:                         400,
		`{"files":[{"text":"` + strings.Repeat("x", MaxBody) + `"}]}`: 413,
	} {
		w := ask(h, "POST", "/run", body)
		require.Equal(t, code, w.Code, w.Body.String())
		if code != 200 {
			require.Equal(t, 1, strings.Count(w.Body.String(), "\n"))
		}
	}
	w := ask(handler(func(context.Context) error { return context.DeadlineExceeded }), "POST", "/run", "{}")
	require.Equal(t, 503, w.Code)
}

func TestAnswersAreCompressed(t *testing.T) {
	w := ask(handler(nil), "POST", "/run", `{"files":[{"name":"a","text":""}]}`, "Accept-Encoding", "gzip, br")
	require.Equal(t, "gzip", w.Header().Get("Content-Encoding"))
	require.Less(t, w.Body.Len(), 500)
	r, err := gzip.NewReader(w.Body)
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	var run Run
	require.NoError(t, json.Unmarshal(text, &run))
	require.Len(t, run.Transcript, 2000)
}

// TestTheNewestPlaysNext: one plays, one waits, and who waited before is told so.
func TestTheNewestPlaysNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		playing, release := 0, make(chan struct{})
		h := handler(func(context.Context) error {
			playing++
			require.Equal(t, 1, playing)
			<-release
			playing--
			return nil
		})
		codes := make([]int, 3)
		for i := range codes {
			go func() { codes[i] = ask(h, "POST", "/run", "{}").Code }()
			synctest.Wait()
		}
		require.Equal(t, []int{0, http.StatusTooManyRequests, 0}, codes)
		release <- struct{}{}
		synctest.Wait()
		release <- struct{}{}
		synctest.Wait()
		require.Equal(t, []int{200, http.StatusTooManyRequests, 200}, codes)
		require.Equal(t, 200, ask(handler(nil), "POST", "/check", "{}").Code)
	})
}
