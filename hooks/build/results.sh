# Leaves what the steps have written to $RESULTS_DIR as the message of this container: for
# each name in $RESULTS a line NAME=BASE64, as long as there is room for it.
set -eu
left="$ROOM"
for name in $RESULTS; do
  file="$RESULTS_DIR/$name"
  if [ ! -f "$file" ] || [ ! -r "$file" ]; then
    echo "no step has written $file"
    continue
  fi
  line="$name=$(head -c "$MOST" "$file" | base64 | tr -d '\n')"
  if [ "${#line}" -ge "$left" ]; then
    echo "there is no room for $file"
    continue
  fi
  left=$((left - ${#line} - 1))
  echo "$line" >>"${TERMINATION_LOG:-/dev/termination-log}"
done
