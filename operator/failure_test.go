package operator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLastFailure(t *testing.T) {
	const crashed = `{"phase":"Running","containerStatuses":[{"name":"c","restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff"}},
		"lastState":{"terminated":{"exitCode":3,"reason":"Error","finishedAt":"2026-06-01T11:58:00Z"}}}]}`
	before := func(ago time.Duration, message string) *Failure {
		return &Failure{Pod: "old", Time: metav1.NewTime(noon.Add(-ago)), Message: message}
	}
	for name, test := range map[string]struct {
		pods       []Pod
		remembered *Failure
		want       string // the Pod, the time before noon and the message
	}{
		"nothing has failed":     {[]Pod{told(t, "a", time.Hour, ready)}, nil, ""},
		"the newest of several":  {[]Pod{told(t, "a", time.Hour, killedAt), told(t, "b", time.Hour, crashed)}, nil, "b 2m0s c has ended: Error, exit code 3"},
		"it runs again":          {[]Pod{told(t, "a", time.Hour, killedAt)}, nil, "a 5m0s c has ended: OOMKilled, exit code 137"},
		"the Pod has failed":     {[]Pod{told(t, "a", time.Minute, rejected)}, nil, "a 1m0s OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu"},
		"it was replaced":        {[]Pod{told(t, "a", time.Minute, ready)}, before(time.Hour, "m"), "old 1h0m0s m"},
		"one is newer":           {[]Pod{told(t, "a", time.Hour, crashed)}, before(3*time.Minute, "m"), "a 2m0s c has ended: Error, exit code 3"},
		"the same again":         {[]Pod{told(t, "a", time.Hour, crashed)}, before(9*time.Minute, "c has ended: Error, exit code 3"), "old 9m0s c has ended: Error, exit code 3"},
		"the same after a while": {[]Pod{told(t, "a", time.Hour, crashed)}, before(time.Hour, "c has ended: Error, exit code 3"), "a 2m0s c has ended: Error, exit code 3"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if f := LastFailure(test.pods, test.remembered); f != nil {
				got = f.Pod + " " + noon.Sub(f.Time.Time).String() + " " + f.Message
			}
			require.Equal(t, test.want, got)
		})
	}
}
