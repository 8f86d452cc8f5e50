#!/bin/sh
# Runs `go test` with the given arguments and prints its output at once. On failure
# the last lines list the failed tests. The exit code is that of go.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
{
  ${GO:-go} test "$@" 2>&1
  echo $? >"$folder/code"
} | tee "$folder/output"
# Not in the pipe above: some versions of awk buffer their output.
awk '
  # A test or a subtest, which is indented.
  /^ *--- FAIL: / { failed[count++] = $3; next }
  # The tests that ran at the timeout: "\trunning tests:", then "\t\tTestName (20m0s)".
  /^\trunning tests:$/ { running = 1; next }
  running && /^\t\t/ { failed[count++] = $1 " (running at the timeout)"; next }
  { running = 0 }
  # The line of the package follows its tests.
  /^FAIL\t/ {
    if (count == 0) {
      reason = $0
      sub(/^FAIL\t[^ \t]+[ \t]*/, "", reason)
      summary = summary "  " $2 (reason ~ /^\[/ ? " " reason : " (no test failed: see its output above)") "\n"
    }
    for (i = 0; i < count; i++) {
      # A test precedes its subtests, whose names include it.
      if (i + 1 < count && index(failed[i + 1], failed[i] "/") == 1) continue
      summary = summary "  " $2 " " failed[i] "\n"
    }
    count = 0
  }
  END { if (summary != "") printf "\nFailed tests:\n%s", summary }
' "$folder/output"
exit "$(cat "$folder/code")"
