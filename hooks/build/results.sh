# Leaves what the steps have written to $RESULTS_DIR as the message of this container, of at most $ROOM bytes: for
# each name in $RESULTS a line NAME=BASE64, or NAME!SIZE= where there is no room, and at the end a line .=, by which the
# reader knows that nothing is missing. What no step has written has no line.
set -eu
left="$ROOM" end=.=
tell() {
  [ "$((${#1} + 1))" -le "$left" ] || return 1
  left=$((left - ${#1} - 1))
  echo "$1" >>"${TERMINATION_LOG:-/dev/termination-log}"
}
left=$((left - 3)) # for the end
for name in $RESULTS; do
  file="$RESULTS_DIR/$name"
  if [ ! -e "$file" ]; then
    echo "no step has written $file"
  elif [ ! -f "$file" ] || [ ! -r "$file" ]; then
    echo "$file is left out: it is no file that every user can read"
    tell "$name!=" || end=
  else
    size=$(($(wc -c <"$file")))
    if [ "$size" -ge "$left" ] || ! tell "$name=$(head -c "$left" "$file" | base64 | tr -d '\n')"; then
      echo "$file is left out: it has $size bytes, for which there is no room"
      tell "$name!$size=" || end=
    fi
  fi
done
left=$((left + 3))
[ -z "$end" ] || tell "$end"
