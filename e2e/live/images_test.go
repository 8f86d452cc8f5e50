package live

import (
	"encoding/json"
	"fmt"
	"strings"
)

// failingImages are what is said first of a container with an image below fail/, which the node of this cluster lets
// fail as a real kubelet does.
var failingImages = map[string]string{
	"pull": "ImagePullBackOff", "crash": "CrashLoopBackOff, after it ended: Error, exit code 1", "oom": "OOMKilled", "probe": "readiness probe",
}

// has reports whether a sentence has some words, where they may begin it.
func has(sentence, words string) bool {
	return strings.Contains(strings.ToLower(sentence), strings.ToLower(words))
}

// testImagesThatFail: the status says it, and so does why.
func testImagesThatFail(w *world) {
	for cause := range failingImages {
		w.apply(fmt.Sprintf("{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: %[1]s}, spec: {image: 'fail/%[1]s:1', replicas: 1}}", cause))
	}
	for cause, words := range failingImages {
		w.eventually(cause+" is told", func() error {
			if is := w.condition("modelboxes.model.github.com", cause, "Ready"); !strings.HasPrefix(is, "False ") || !has(is, words) {
				return fmt.Errorf("the status says %q", is)
			}
			var answer struct {
				Because []struct{ Reason, Message string }
			}
			if err := json.Unmarshal([]byte(w.plugin("why", "mb/"+cause, "--output=json")), &answer); err != nil {
				return err
			}
			if is := fmt.Sprint(answer.Because); !has(is, words) {
				return fmt.Errorf("why says %s", is)
			}
			return nil
		})
	}
}
