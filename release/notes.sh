#!/bin/sh
# Prints the notes of a version: its section of the CHANGELOG, with links to the files of that version.
# Before the section has its name, the notes are those of what is unreleased, unless the commit is tagged.
#
#   notes.sh v1.2.3 [--tagged]
set -eu
version=$1 section=$1
if ! grep -qx "## $version" CHANGELOG.md; then
  if [ -n "${2-}" ]; then
    echo "release: the CHANGELOG has no section ## $version: give the entries below ## Unreleased this headline" >&2
    exit 1
  fi
  section=Unreleased
fi
echo "# Operetta $version"
awk -v headline="## $section" '/^## / { inside = $0 == headline; next } inside' CHANGELOG.md |
  sed -E "s|\]\(([a-z][A-Za-z0-9_./-]*(#[a-z0-9-]+)?)\)|](https://github.com/operetta-dev/operetta/blob/$version/\1)|g"
