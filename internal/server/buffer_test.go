package server_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/myjob"
	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestRequestsShareNoBuffer: bodies are read into buffers that are used again, so that what a
// call remembers of one must be a copy. The cases of two kinds are answered one after the other, twice.
func TestRequestsShareNoBuffer(t *testing.T) {
	controllers := []metacontroller.Controller{myjob.Controller(), podset.Controller()}
	var cases []corpus.Case
	for _, controller := range controllers {
		found, err := corpus.ReadKind("../../testdata", controller)
		require.NoError(t, err)
		cases = append(cases, found...)
	}
	var now time.Time
	handler := server.New(server.Options{
		Controllers: controllers, Now: func() time.Time { return now }, Log: discard(), MaxBodyBytes: server.DefaultMaxBodyBytes,
	}).Hooks()
	for range 2 {
		for _, c := range cases {
			now = c.Now
			want, err := c.Call()
			recorder := httptest.NewRecorder()
			path := "/" + c.Controller.Name() + "/" + string(c.Hook)
			handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(c.Request)))
			if err == nil {
				require.Equal(t, string(want.Body), recorder.Body.String(), c.Name)
			} else {
				require.NotEqual(t, http.StatusOK, recorder.Code, c.Name)
			}
		}
	}
}
