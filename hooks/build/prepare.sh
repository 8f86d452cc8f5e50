# Makes what the steps find ready. Nothing that it is told is read as shell.
set -eu

# Scripts that name their interpreter are files, which the steps run as they are.
scripts="${SCRIPTS_PATH:-/operetta/scripts}" i=0
for name in ${CLONE_SCRIPTS:-}; do
  mkdir -p "$scripts"
  eval "printf '%s' \"\$CLONE_SCRIPT_$i\"" >"$scripts/$name"
  chmod 755 "$scripts/$name"
  i=$((i + 1))
done
if [ -n "${CLONE_RESULTS:-}" ]; then
  mkdir -p "$CLONE_RESULTS"
  chmod 777 "$CLONE_RESULTS" # the steps may be any users
fi
