#!/bin/sh
# Runs `go test` with the given arguments and prints its output at once. On failure
# the last lines repeat what the failed tests said, and list them. The exit code is
# that of go.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
{
  ${GO:-go} test "$@" 2>&1
  echo $? >"$folder/code"
} | tee "$folder/output"
# Not in the pipe above: some versions of awk buffer their output.
awk '
  # A test or a subtest, which is indented.
  /^ *--- FAIL: / { failed[count++] = $3; said[++sayings] = $0; lines = 0; next }
  # What it said is indented more. Between its lines there can be some of other programs.
  /^    / && lines < most {
    if (++lines == most) $0 = "    ... more above"
    said[sayings] = said[sayings] "\n" substr($0, 1, 500)
    next
  }
  /^ *--- / { lines = most }
  /^panic: / { said[++sayings] = substr($0, 1, 500) }
  # Errors of the compiler and of vet, below the name of the package.
  /^# / { package = $0; next }
  package != "" && /^[^ \t:]+\.go:[0-9]+:/ { said[++sayings] = (package == "#" ? "" : package "\n") substr($0, 1, 500); package = "#"; next }
  # The tests that ran at the timeout: "\trunning tests:", then "\t\tTestName (20m0s)".
  /^\trunning tests:$/ { running = 1; next }
  running && /^\t\t/ { failed[count++] = $1 " (running at the timeout)"; next }
  { running = 0 }
  # The line of the package follows its tests.
  /^FAIL\t/ {
    lines = most
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
  BEGIN { most = 40; lines = most }
  END {
    if (summary == "") exit
    if (sayings) printf "\nWhat they said:\n"
    for (i = 1; i <= sayings; i++) print said[i]
    printf "\nFailed tests:\n%s", summary
  }
' "$folder/output"
exit "$(cat "$folder/code")"
