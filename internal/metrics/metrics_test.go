package metrics

import (
	"net/http"
	"net/http/httptest"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// TestHistogramsAreNativeToo: native for a Prometheus that accepts them, else classic.
func TestHistogramsAreNativeToo(t *testing.T) {
	m := busy()
	tried := 0
	for _, family := range own(t, m.Registry()) {
		if family.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		tried++
		for _, metric := range family.GetMetric() {
			require.NotEmpty(t, metric.GetHistogram().GetBucket(), family.GetName())
			require.NotZero(t, metric.GetHistogram().GetZeroThreshold(), family.GetName()+": only native ones have it")
		}
	}
	require.Equal(t, 3, tried)
	for accept, want := range map[string]string{
		"":           "text/plain; version=0.0.4",
		"text/plain": "text/plain; version=0.0.4",
		"application/openmetrics-text;version=1.0.0":                                                 "application/openmetrics-text; version=1.0.0",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited": "application/vnd.google.protobuf",
	} {
		request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		request.Header.Set("Accept", accept)
		recorder := httptest.NewRecorder()
		m.Handler().ServeHTTP(recorder, request)
		require.Equal(t, http.StatusOK, recorder.Code)
		require.Contains(t, recorder.Header().Get("Content-Type"), want, accept)
	}
}
