# Runs the program of a step, which follows the word run, for at most $1 seconds, where that is not 0. If $2 is
# continue, the container ends well although the program fails. What stands between are conditions under which it
# runs at all: result FILE or env NAME, in or notin, how many values, and these. Names of variables are long here,
# because the program would see one of its own changed.
operetta_limit="$1" operetta_on_error="$2" operetta_late=
shift 2
while [ "$1" != run ]; do
  operetta_subject="$1 ${2##*/}" operetta_operator="$3" operetta_left="$4" operetta_text= operetta_found=notin operetta_values=
  case "$1" in
  env) eval "operetta_text=\"\${$2-}\"" ;;
  result) operetta_text="$(cat "$2" 2>/dev/null)" || operetta_subject="$operetta_subject, which no step has written," ;;
  esac
  shift 4
  while [ "$operetta_left" -gt 0 ]; do
    [ "$operetta_text" != "$1" ] || operetta_found=in
    operetta_values="$operetta_values '$1'" operetta_left=$((operetta_left - 1))
    shift
  done
  if [ "$operetta_found" != "$operetta_operator" ]; then
    printf 'the step is skipped, because %s has to be %s%s\n' "$operetta_subject" "$operetta_operator" "$operetta_values"
    exit 0
  fi
done
shift
"$@" &
operetta_program=$!
# The first process of a container does not die of a signal by itself.
trap 'kill "$operetta_program"; wait "$operetta_program"; exit 143' TERM
operetta_watch() {
  sleep "$1" &
  trap 'kill "$!"; exit' TERM
  wait "$!"
}
if [ "$operetta_limit" != 0 ]; then
  # What a program makes of SIGTERM does not count: it was too long, and one that ignores it is killed.
  trap 'operetta_late=1; kill "$operetta_program"' USR1
  (operetta_watch "$operetta_limit"; kill -USR1 "$$"; operetta_watch 10; kill -KILL "$operetta_program") >/dev/null 2>&1 &
  operetta_watcher=$!
fi
while :; do
  operetta_code=0
  wait "$operetta_program" 2>/dev/null || operetta_code=$? # some shells say there how it ended
  # A signal ends the wait, and not the program.
  kill -0 "$operetta_program" 2>/dev/null || break
done
[ "$operetta_limit" = 0 ] || kill "$operetta_watcher" 2>/dev/null || true
[ -z "$operetta_late" ] || operetta_code=124
[ "$operetta_code" != 0 ] || exit 0
[ "$operetta_on_error" = continue ] || exit "$operetta_code"
echo "the step failed with exit code $operetta_code, and onError is continue" >&2
