# Fetches one revision of a repository into /workspace. Everything it is told
# comes by environment variables, so that no value is ever read as shell.
set -eu
umask 002 # the builder may be another user of the same group
export GIT_TERMINAL_PROMPT=0
export GIT_ALLOW_PROTOCOL="${GIT_ALLOW_PROTOCOL:-https:http:ssh:git}"

fail() {
  echo "$1" >&2
  # The message of a failed container is what kubectl describe shows.
  { echo "$1" >"${TERMINATION_LOG:-/dev/termination-log}"; } 2>/dev/null || true
  exit 1
}

if [ -f "$CREDENTIALS/ssh-privatekey" ]; then
  cp "$CREDENTIALS/ssh-privatekey" "$HOME/identity"
  chmod 600 "$HOME/identity"
  # A key without a newline at its end is one that OpenSSH does not read.
  echo >>"$HOME/identity"
  hosts="-o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=$HOME/known_hosts"
  if [ -f "$CREDENTIALS/known_hosts" ]; then
    hosts="-o StrictHostKeyChecking=yes -o UserKnownHostsFile=$CREDENTIALS/known_hosts"
  fi
  export GIT_SSH_COMMAND="ssh -i $HOME/identity -o IdentitiesOnly=yes -o BatchMode=yes $hosts"
fi
# The folder belongs to root, as volumes do, and Git would refuse it for that.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
if [ -f "$CREDENTIALS/password" ]; then
  # Git asks for credentials host by host. This answers for this host only,
  # wherever it may send us on to.
  host="${REPOSITORY#*://}"
  export GIT_CONFIG_COUNT=2
  export GIT_CONFIG_KEY_1="credential.${REPOSITORY%%://*}://${host%%/*}.helper"
  export GIT_CONFIG_VALUE_1='!credentials() {
    test "$1" = get || return 0
    if [ -f "$CREDENTIALS/username" ]; then echo "username=$(cat "$CREDENTIALS/username")"; else echo username=git; fi
    echo "password=$(cat "$CREDENTIALS/password")"
  }; credentials'
fi

cd "$WORKSPACE"
# A container that is started again finds what the last try left.
find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +
git init --quiet .
git remote add origin "$REPOSITORY"
if git fetch --quiet --depth=1 origin "$REVISION" 2>"$HOME/errors"; then
  git checkout --quiet --detach FETCH_HEAD
else
  # Not every server hands out a commit that is no branch or tag, and none a
  # commit of which only the first digits are given: look for it in the whole.
  git fetch --quiet --tags origin '+refs/heads/*:refs/remotes/origin/*' ||
    fail "$REPOSITORY cannot be fetched"
  git checkout --quiet --detach "$REVISION^{commit}" 2>/dev/null ||
    { cat "$HOME/errors" >&2; fail "there is no branch, tag or commit $REVISION in $REPOSITORY"; }
fi
git log -1 --format='building %H %s'
[ -d "./$SUB_PATH" ] || fail "there is no folder $SUB_PATH in $REVISION"

# Scripts that name their interpreter are files, which the steps run as they are.
scripts="${SCRIPTS_PATH:-/operetta/scripts}" i=0
for name in ${CLONE_SCRIPTS:-}; do
  mkdir -p "$scripts"
  eval "printf '%s' \"\$CLONE_SCRIPT_$i\"" >"$scripts/$name"
  chmod 755 "$scripts/$name"
  i=$((i + 1))
done
