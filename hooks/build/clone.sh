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

# Says why Git could not fetch, in the words of Git or OpenSSH, as far as they are theirs: a server that was told a
# password may say it again, in a line that begins with "remote:" or in what follows "remote error:".
why() {
  cat "$HOME/errors" >&2
  line="$(grep -oE '^(fatal: (Authentication failed for|could not read (Username|Password) for|unable to access|unable to look up|unable to connect|repository .* not found|mismatched algorithms|transport .* not allowed|.* does not appear to be a git repository).*|fatal: remote error: access denied or repository not exported|ERROR: Repository not found\.|ssh: (Could not resolve hostname|connect to host) .*|Host key verification failed\.|[^ ]+@[^ ]+: Permission denied \([a-z,-]+\)\.|Load key .*)' "$HOME/errors" | tail -n 1)"
  [ -z "$line" ] || printf ': %s' "$line"
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
if [ -f "$CREDENTIALS/ca.crt" ]; then
  export GIT_SSL_CAINFO="$CREDENTIALS/ca.crt"
fi

# Configures every git that runs here, and no other.
config() {
  n="${GIT_CONFIG_COUNT:-0}"
  export "GIT_CONFIG_KEY_$n=$1" "GIT_CONFIG_VALUE_$n=$2" "GIT_CONFIG_COUNT=$((n + 1))"
}
# The folder belongs to root, as volumes do, and Git would refuse it for that.
config safe.directory '*'
if [ -f "$CREDENTIALS/password" ]; then
  # Git asks for credentials host by host. This answers for this host only,
  # wherever it may send us on to.
  host="${REPOSITORY#*://}"
  host="${host%%/*}"
  case "$host" in *@*) export CLONE_USER= ;; *) export CLONE_USER=git ;; esac
  config "credential.${REPOSITORY%%://*}://${host#*@}.helper" '!credentials() {
    test "$1" = get || return 0
    if [ -f "$CREDENTIALS/username" ]; then echo "username=$(cat "$CREDENTIALS/username")"
    elif [ -n "$CLONE_USER" ]; then echo "username=$CLONE_USER"; fi
    echo "password=$(cat "$CREDENTIALS/password")"
  }; credentials'
fi

# The history is as long as is asked for, and there are no tags and no other branches,
# however the revision is spelt.
depth="${CLONE_DEPTH:-1}"
export GIT_LFS_SKIP_SMUDGE=1 # so that no image fetches more than is asked for
fetch() {
  [ "$depth" = 0 ] || set -- --depth="$depth" "$@"
  git fetch --quiet --no-tags "$@"
}

cd "$WORKSPACE"
# A container that is started again finds what the last try left.
find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +
git init --quiet .
git remote add origin "$REPOSITORY"
if ! fetch "$REPOSITORY" "$REVISION" 2>"$HOME/errors"; then
  # Not every server hands out a commit that is no branch or tag, and none a
  # commit of which only the first digits are given: look for it in the whole.
  whole="$HOME/whole"
  rm -rf "$whole"
  git init --quiet --bare "$whole"
  mv "$HOME/errors" "$HOME/first"
  git -C "$whole" fetch --quiet --tags "$REPOSITORY" '+refs/heads/*:refs/heads/*' 2>"$HOME/errors" ||
    fail "$REPOSITORY cannot be fetched$(why)"
  commit="$(git -C "$whole" rev-parse --quiet --verify "$REVISION^{commit}")" ||
    { cat "$HOME/first" >&2; fail "there is no branch, tag or commit $REVISION in $REPOSITORY"; }
  git -C "$whole" update-ref refs/revision "$commit"
  (export GIT_ALLOW_PROTOCOL=file; fetch "file://$whole" refs/revision)
  rm -rf "$whole"
fi
git checkout --quiet --detach FETCH_HEAD
if [ -n "${CLONE_TAGS:-}" ]; then
  fetch "$REPOSITORY" '+refs/tags/*:refs/tags/*' || fail "the tags of $REPOSITORY cannot be fetched"
fi
if [ -n "${CLONE_SUBMODULES:-}" ]; then
  modules() { git submodule --quiet update --init --recursive "$@"; }
  if [ "$depth" = 0 ] || ! modules --depth="$depth" 2>"$HOME/errors"; then
    # A server without protocol version 2 hands out no commit behind the tip of a branch: the second try has
    # to find nothing that the first has cut.
    git submodule --quiet deinit --force --all
    rm -rf .git/modules
    modules 2>"$HOME/errors" || fail "a submodule cannot be fetched$(why)"
  fi
elif [ -f .gitmodules ]; then
  echo "submodules are left empty, because source.git.submodules is false"
fi
if [ -n "${CLONE_LFS:-}" ]; then
  git -c filter.lfs.clean='git-lfs clean -- %f' -c filter.lfs.smudge='git-lfs smudge -- %f' \
    -c filter.lfs.process='git-lfs filter-process' -c filter.lfs.required=true lfs pull origin ||
    fail "the files in Git LFS cannot be fetched"
  # Git reads a file again that is as new as its index, and a builder without git-lfs
  # would take it for modified.
  sleep 1
  touch .git/index
fi
git log -1 --format='building %H %s'
[ -d "./$SUB_PATH" ] || fail "there is no folder $SUB_PATH in $REVISION"

# The message of this container is how the commit gets into the status.
{ git rev-parse HEAD >"${TERMINATION_LOG:-/dev/termination-log}"; } 2>/dev/null || true

