# Runs the program of a step for at most $1 seconds, where that is not 0. If $2 is
# continue, the container ends well although the program fails.
limit="$1" on_error="$2"
shift 2
[ "$limit" = 0 ] || set -- timeout "$limit" "$@"
"$@" &
# The first process of a container does not die of a signal by itself.
trap 'kill "$!"; wait "$!"; exit 143' TERM
wait "$!" && exit
code=$?
[ "$on_error" = continue ] || exit "$code"
echo "the step failed with exit code $code, and onError is continue" >&2
