package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTrailersAreForgotten: a request may wait for long when its body has been read.
func TestTrailersAreForgotten(t *testing.T) {
	seen := make(chan http.Header, 1)
	server := httptest.NewServer(new(Server).forgetHeaders(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "{}" {
			t.Errorf("read %q: %v", body, err)
		}
		seen <- r.Trailer
	})))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, io.MultiReader(strings.NewReader("{}")))
	require.NoError(t, err)
	request.Trailer = http.Header{"Sum": {"1"}, "Other": {"2"}}
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Empty(t, <-seen)
}
