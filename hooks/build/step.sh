# Runs the program of a step for at most $1 seconds, where that is not 0. If $2 is
# continue, the container ends well although the program fails.
limit="$1" on_error="$2" late=
shift 2
"$@" &
program=$!
# The first process of a container does not die of a signal by itself.
trap 'kill "$program"; wait "$program"; exit 143' TERM
watch() {
  sleep "$1" &
  trap 'kill "$!"; exit' TERM
  wait "$!"
}
if [ "$limit" != 0 ]; then
  # What a program makes of SIGTERM does not count: it was too long, and one that ignores it is killed.
  trap 'late=1; kill "$program"' USR1
  (watch "$limit"; kill -USR1 "$$"; watch 10; kill -KILL "$program") >/dev/null 2>&1 &
  watcher=$!
fi
while :; do
  code=0
  wait "$program" 2>/dev/null || code=$? # some shells say there how it ended
  # A signal ends the wait, and not the program.
  kill -0 "$program" 2>/dev/null || break
done
[ "$limit" = 0 ] || kill "$watcher" 2>/dev/null || true
[ -z "$late" ] || code=124
[ "$code" != 0 ] || exit 0
[ "$on_error" = continue ] || exit "$code"
echo "the step failed with exit code $code, and onError is continue" >&2
