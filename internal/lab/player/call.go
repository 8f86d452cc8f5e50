package player

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Direct returns a Call that needs no server and answers as the server does,
// for tests of one operator.
func Direct(controllers ...metacontroller.Controller) Call {
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		for _, controller := range controllers {
			hook, ours := strings.CutPrefix(path, "/"+controller.Name()+"/")
			if !ours {
				continue
			}
			answer, err := controller.Call(metacontroller.HookName(hook), now, body)
			code, text := http.StatusOK, answer.Body
			if err != nil {
				code, text = http.StatusInternalServerError, []byte(err.Error())
			}
			if metacontroller.IsRequestError(err) {
				code = http.StatusBadRequest
			}
			return code, text, nil
		}
		return 0, nil, fmt.Errorf("there is no operator behind %s", path)
	}
}

// LoseStatus wraps calls so that the statuses of the sync answers from the first to the last,
// counted from 1, are not written: as when Metacontroller dies after it has created and deleted
// children. It restarts and syncs a second later.
func LoseStatus(call Call, first, last int) Call {
	count := 0
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		code, answer, err := call(now, path, body)
		if err != nil || code != http.StatusOK || !strings.HasSuffix(path, "/sync") {
			return code, answer, err
		}
		if count++; count < first || count > last {
			return code, answer, nil
		}
		var request struct {
			Parent struct {
				Status json.RawMessage `json:"status"`
			} `json:"parent"`
		}
		response := map[string]json.RawMessage{}
		if err := errors.Join(json.Unmarshal(body, &request), json.Unmarshal(answer, &response)); err != nil {
			return 0, nil, fmt.Errorf("lose the status of an answer: %w", err)
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
