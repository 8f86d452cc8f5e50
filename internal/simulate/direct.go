package simulate

import (
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
			code, body := answered(controller.Call(metacontroller.HookName(hook), now, body))
			return code, body, nil
		}
		return 0, nil, fmt.Errorf("there is no operator behind %s", path)
	}
}

func answered(answer metacontroller.Answer, err error) (code int, body []byte) {
	switch {
	case metacontroller.IsRequestError(err):
		return http.StatusBadRequest, []byte(err.Error())
	case err != nil:
		return http.StatusInternalServerError, []byte(err.Error())
	}
	return http.StatusOK, answer.Body
}
