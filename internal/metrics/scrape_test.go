package metrics

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowReader is a response whose client has not read anything yet.
type slowReader struct {
	*httptest.ResponseRecorder

	writing chan struct{}
	read    chan struct{}
}

func (s slowReader) Write(text []byte) (int, error) {
	select {
	case s.writing <- struct{}{}:
	case <-s.read: // nobody waits for it any more
	}
	<-s.read
	return s.ResponseRecorder.Write(text)
}

// TestSlowScrapersKeepNobodyOut: who reads slowly takes no place of the few that gather at
// a time, or Prometheus would get 503 as long as four of them read.
func TestSlowScrapersKeepNobodyOut(t *testing.T) {
	handler := New(Options{Log: slog.New(slog.DiscardHandler), Load: func() Load { return Load{} }}).Handler()
	scrape := func(w http.ResponseWriter) {
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	}
	writing, read := make(chan struct{}, 1), make(chan struct{})
	var group sync.WaitGroup
	defer group.Wait()
	defer close(read)
	for range 2 * mostScrapes {
		group.Go(func() { scrape(slowReader{httptest.NewRecorder(), writing, read}) })
		<-writing
	}
	for range 2 * mostScrapes {
		recorder := httptest.NewRecorder()
		scrape(recorder)
		require.Equal(t, http.StatusOK, recorder.Code, recorder.Body)
		require.Contains(t, recorder.Body.String(), "go_goroutines")
	}
}
