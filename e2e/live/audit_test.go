package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
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

// isWrite tells whether it changes something, events aside.
func (r request) isWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete"}, r.Verb) && r.ObjectRef.Resource != "events"
}

// isForbidden tells whether it was refused for want of a permission. A quota or
// an admission plugin refuses with 403 as well.
func (r request) isForbidden() bool {
	return r.Annotations["authorization.k8s.io/decision"] == "forbid"
}

// requests returns what Metacontroller has asked of the API server since an
// offset in its audit log, and the next offset.
func requests(t require.TestingT, offset int64) ([]request, int64) {
	list, next, err := readRequests(offset)
	require.NoError(t, err)
	return list, next
}

// requests returns those in the namespace.
func (w *world) requests(offset int64) ([]request, int64) {
	w.Helper()
	list, next := requests(w, offset)
	return slices.DeleteFunc(list, func(r request) bool { return r.ObjectRef.Namespace != w.ns }), next
}

// auditEnd returns the offset of the end of the audit log: of its last whole line.
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

func readRequests(offset int64) ([]request, int64, error) {
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
		if !bytes.Contains(line, []byte(metacontrollerUser)) {
			continue // most lines: to decode them all would take long
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, offset, fmt.Errorf("read a line of the audit log: %w", err)
		}
		if r.User.Username == metacontrollerUser {
			list = append(list, r)
		}
	}
}

// writes returns those requests that change something, events aside.
func writes(list []request) []request {
	return slices.DeleteFunc(slices.Clone(list), func(r request) bool { return !r.isWrite() })
}

// missingPermissions returns the requests that were refused for want of a
// permission while the API server was ready. It listens a moment before it has
// read the Roles, and until then refuses what they allow: load balancers send it
// nothing before it is ready, and clients such as Metacontroller ask again.
func missingPermissions(list []request, startups []cluster.Startup) []request {
	return slices.DeleteFunc(slices.Clone(list), func(r request) bool {
		return !r.isForbidden() || slices.ContainsFunc(startups, func(s cluster.Startup) bool {
			return r.Received.After(s.Began) && r.Received.Before(s.Ready)
		})
	})
}

// TestMissingPermissionsAreFound tells a missing permission from what else is
// answered with 403.
func TestMissingPermissionsAreFound(t *testing.T) {
	begin := time.Now()
	startups := []cluster.Startup{{Began: begin, Ready: begin.Add(time.Second)}}
	answered := func(after time.Duration, decision string) request {
		r := request{Verb: "watch", Received: begin.Add(after), Annotations: map[string]string{"authorization.k8s.io/decision": decision}}
		r.ResponseStatus.Code = 403
		return r
	}
	missing := answered(2*time.Second, "forbid")
	require.Equal(t, []request{missing}, missingPermissions([]request{
		answered(time.Second/2, "forbid"), // the API server has not read the Roles
		missing,
		answered(2*time.Second, "allow"), // a quota is full
	}, startups))
}
