package simulate

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// LoseStatus wraps calls so that the statuses of the sync answers from the
// first to the last, counted from 1, are not written: as when Metacontroller
// dies after it has created and deleted children. It restarts and syncs a
// second later.
func LoseStatus(call Call, first, last int) Call {
	count := 0
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		code, answer, err := call(now, path, body)
		if err != nil || code != 200 || !strings.HasSuffix(path, "/sync") {
			return code, answer, err
		}
		if count++; count < first || count > last {
			return code, answer, err
		}
		var request struct {
			Parent struct {
				Status json.RawMessage `json:"status"`
			} `json:"parent"`
		}
		response := map[string]json.RawMessage{}
		if err := json.Unmarshal(body, &request); err != nil {
			return 0, nil, fmt.Errorf("read the request whose status is to be lost: %w", err)
		}
		if err := json.Unmarshal(answer, &response); err != nil {
			return 0, nil, fmt.Errorf("read the answer whose status is to be lost: %w", err)
		}
		delete(response, "status")
		if request.Parent.Status != nil {
			response["status"] = request.Parent.Status
		}
		response["resyncAfterSeconds"] = json.RawMessage("1")
		answer, err = json.Marshal(response)
		return code, answer, err
	}
}
