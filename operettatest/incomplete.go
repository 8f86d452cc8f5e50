package operettatest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/corpus"
)

// ofEveryPod are fields that each Pod of an API server has.
var ofEveryPod = []string{"metadata.creationTimestamp", "metadata.uid", "spec.containers", "status.phase"}

// tellIncomplete logs, if the test fails, which Pods of its case no API server would send: the hook may
// be right, and judge what there never is.
func tellIncomplete(t *testing.T, c corpus.Case) {
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, member := range []string{"children", "related"} {
			for _, observed := range observedIn(parsed(t, c.Request), member) {
				if lacks := lacking(observed); observed["kind"] == "Pod" && len(lacks) > 0 {
					t.Logf("%s of the case has no %s, which the API server always fills in: complete it first", nameInStatus(observed), strings.Join(lacks, ", no "))
				}
			}
		}
	})
}

// lacking returns the fields of every Pod that one has not.
func lacking(pod object) []string {
	return slices.DeleteFunc(slices.Clone(ofEveryPod), func(path string) bool {
		value, found, _ := unstructured.NestedFieldNoCopy(pod, strings.Split(path, ".")...)
		return found && fmt.Sprint(value) != "" && fmt.Sprint(value) != "[]"
	})
}
