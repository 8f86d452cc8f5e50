package metacontroller

import (
	"encoding/json"
	"reflect"
	"strings"
)

// mostForeign is how much larger than four times its desired form an observed child may be
// and is still updated. Its own annotations and managed fields need less.
const mostForeign = 256 << 10

// isSurelyRefused reports whether the API server would refuse each update of an observed
// child to its desired form, or might refuse it with a message as large as what others have
// written into the child: it quotes that, and Metacontroller keeps the message as an event.
// The selector of a workload cannot be changed. Metacontroller merges the desired one into
// that of an object which it has adopted.
func isSurelyRefused(observed, desired []byte) bool {
	if isTooLargeToUpdate(len(observed), len(desired)) {
		return true
	}
	apiVersion, _ := text(lookup(desired, "apiVersion"))
	if !strings.HasPrefix(apiVersion, "apps/") {
		return false
	}
	was, is := lookup(observed, "spec", "selector"), lookup(desired, "spec", "selector")
	if was == nil || is == nil || string(was) == string(is) {
		return false
	}
	var before, after any
	return json.Unmarshal(was, &before) == nil && json.Unmarshal(is, &after) == nil && !reflect.DeepEqual(before, after)
}

// isTooLargeToUpdate reports whether an observed child of so many bytes is not updated, see
// [isSurelyRefused].
func isTooLargeToUpdate(observed, desired int) bool { return observed > 4*desired+mostForeign }
