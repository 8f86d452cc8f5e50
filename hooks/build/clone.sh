# Fetches one revision of a repository into /workspace. Everything it is told
# comes by environment variables, so that no value is ever read as shell.
set -eu
umask 002 # the builder may be another user of the same group
export GIT_TERMINAL_PROMPT=0 LC_ALL=C # the sentences of Git are read
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
depth="${CLONE_DEPTH:-1}" from="$REPOSITORY" whole="$HOME/whole"
export GIT_LFS_SKIP_SMUDGE=1 # so that no image fetches more than is asked for
fetch() {
  cut="--depth=$depth"
  [ "$depth" != 0 ] || cut=
  (
    [ "$from" = "$REPOSITORY" ] || export GIT_ALLOW_PROTOCOL=file
    git fetch --quiet --no-tags $cut "$from" "$1" 2>"$HOME/errors"
  )
}
says() { grep -qE "$1" "$HOME/errors"; }
begin() {
  # A container that is started again finds what the last try left.
  find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +
  git init --quiet "$@" .
  git remote add origin "$REPOSITORY"
}

missing() { fail "there is no branch, tag or commit $REVISION in $REPOSITORY"; }
unreachable() { fail "$REPOSITORY cannot be fetched$(why)"; }
# Whether the revision may be a commit, or the first digits of one.
is_hex() {
  case "$REVISION" in *[!0-9a-fA-F]* | ? | ?? | ???) return 1 ;; esac
  [ "${#REVISION}" -le 64 ]
}
is_unknown_name() { ! is_hex && says "^fatal: (couldn't find remote ref|invalid refspec)"; }
# Clones branches and tags, and any name where one is looked for, of which --filter may leave files out.
copy() {
  rm -rf "$whole"
  is_hex || set -- --mirror "$@"
  git clone --quiet --bare "$@" "$REPOSITORY" "$whole" 2>"$HOME/errors"
}
# Fetches what the server does not hand out by the name that is given.
look() {
  if is_unknown_name; then
    missing
  elif says 'upload-pack: not our ref' && grep -q '< version 2$' "$HOME/packets"; then
    missing # since version 2 of its protocol Git hands out every commit that it has
  fi
  copy --filter=tree:0 || { says "filter" && copy; } || unreachable # some servers refuse this filter
  commit="$(GIT_NO_LAZY_FETCH=1 git -C "$whole" rev-parse --verify "$REVISION^{commit}" 2>"$HOME/found")" || {
    ! grep -q ambiguous "$HOME/found" || fail "several commits begin with $REVISION in $REPOSITORY: write more of its digits"
    missing
  }
  if ! says 'filtering not recognized'; then
    ! fetch "$commit" || return 0
    copy || unreachable
  fi
  from="file://$whole" # which can cut the history where the server cannot
  git -C "$whole" update-ref refs/revision "$commit"
  fetch refs/revision || unreachable
}

cd "$WORKSPACE"
begin
if ! fetch "$REVISION"; then
  ! is_unknown_name || missing
  mv "$HOME/errors" "$HOME/first"
  GIT_TRACE_PACKET="$HOME/packets" git -C "$HOME" ls-remote "$REPOSITORY" >"$HOME/refs" 2>"$HOME/errors" || unreachable
  mv "$HOME/first" "$HOME/errors"
  if grep -qE '^[0-9a-f]{64}' "$HOME/refs"; then
    begin --object-format=sha256
    fetch "$REVISION" || look
  else
    look
  fi
fi
git checkout --quiet --detach FETCH_HEAD
if [ -n "${CLONE_TAGS:-}" ]; then
  fetch '+refs/tags/*:refs/tags/*' || fail "the tags of $REPOSITORY cannot be fetched$(why)"
fi
rm -rf "$whole"
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

