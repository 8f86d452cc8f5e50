package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
)

// request is a line of the audit log.
type request struct {
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	Verb      string `json:"verb"`
	URI       string `json:"requestURI"`
	ObjectRef struct {
		Resource, Namespace, Name, Subresource string
	} `json:"objectRef"`
	ResponseStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"responseStatus"`
	Received    time.Time         `json:"requestReceivedTimestamp"`
	Annotations map[string]string `json:"annotations"`
}

func (r request) String() string {
	return fmt.Sprintf("%s %s: %d", r.Verb, r.URI, r.ResponseStatus.Code)
}

// isWrite reports whether the request is a write, except one of an event.
func (r request) isWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete"}, r.Verb) && r.ObjectRef.Resource != "events"
}

// isForbidden reports whether RBAC refused the request. Quotas and admission plugins also
// answer 403.
func (r request) isForbidden() bool {
	return r.Annotations["authorization.k8s.io/decision"] == "forbid"
}

// requests returns Metacontroller's requests since an offset in the audit log of the API
// server, and the next offset.
func requests(t require.TestingT, offset int64) ([]request, int64) {
	list, next, err := readRequests(offset, metacontrollerUser)
	require.NoError(t, err)
	return list, next
}

// requests returns Metacontroller's requests in the test's namespace.
func (w *world) requests(offset int64) ([]request, int64) {
	w.Helper()
	list, next := requests(w, offset)
	return slices.DeleteFunc(list, func(r request) bool { return r.ObjectRef.Namespace != w.ns }), next
}

// auditEnd returns the offset behind the last complete line of the audit log.
func auditEnd(t require.TestingT) int64 {
	const longest = 1 << 20 // of a line
	file, err := os.Open(operetta.AuditLog())
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	size, err := file.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	begin := max(0, size-longest)
	tail := make([]byte, size-begin)
	_, err = file.ReadAt(tail, begin)
	require.NoError(t, err)
	return begin + int64(bytes.LastIndexByte(tail, '\n')) + 1
}

// readRequests returns the requests of a user.
func readRequests(offset int64, user string) ([]request, int64, error) {
	file, err := os.Open(operetta.AuditLog())
	if err != nil {
		return nil, offset, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(offset, 0); err != nil {
		return nil, offset, err
	}
	var list []request
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil { // the rest of a line that is being written comes the next time
			return list, offset, nil
		}
		offset += int64(len(line))
		if !bytes.Contains(line, []byte(user)) {
			continue // most lines: to decode them all would take long
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, offset, fmt.Errorf("read a line of the audit log: %w", err)
		}
		if r.User.Username == user {
			list = append(list, r)
		}
	}
}

// writes returns the requests that are writes, except those of events.
func writes(list []request) []request {
	return slices.DeleteFunc(slices.Clone(list), func(r request) bool { return !r.isWrite() })
}
