#!/bin/sh
# Runs `go test` with the given arguments and shows what it prints as it comes.
# When it fails, the last lines are the names of the tests that failed, which
# are far up otherwise. The exit code is that of go.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
{
  ${GO:-go} test "$@" 2>&1
  echo $? >"$folder/code"
} | tee "$folder/output"
# Not in the pipe: some awks print what they get only when they have got a lot.
awk '
  # A test, or a case of one, which is indented.
  /^ *--- FAIL: / { failed[count++] = $3; next }
  # What ran when the time was up: "\trunning tests:", then "\t\tTestName (20m0s)".
  /^\trunning tests:$/ { running = 1; next }
  running && /^\t\t/ { failed[count++] = $1 " (ran when the time was up)"; next }
  { running = 0 }
  # The line of the package follows its tests.
  /^FAIL\t/ {
    if (count == 0) {
      reason = $0
      sub(/^FAIL\t[^ \t]+[ \t]*/, "", reason)
      summary = summary "  " $2 (reason ~ /^\[/ ? " " reason : " (no test failed: see its output above)") "\n"
    }
    for (i = 0; i < count; i++) {
      # The test stands before its cases, which say more.
      if (i + 1 < count && index(failed[i + 1], failed[i] "/") == 1) continue
      summary = summary "  " $2 " " failed[i] "\n"
    }
    count = 0
  }
  END { if (summary != "") printf "\nFailed tests:\n%s", summary }
' "$folder/output"
exit "$(cat "$folder/code")"
