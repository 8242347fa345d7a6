#!/usr/bin/env bash
# Runs `toolwire check` for .pre-commit-hooks.yaml, with the hook's options and files. `hook.sh npm|uv OPTION… -- FILE…`
#
# The program comes from the user's cache directory, never from the checked repository: `npx` would use the repository's
# `node_modules` and the registry in its `.npmrc`, and `uvx` its `uv.toml`. Compatible with bash 3.2, the version of
# macOS: expanding an empty array fails there.
set -euo pipefail
source "$(dirname "$0")/install.sh"

fail() { # MESSAGE
  echo "toolwire: $1" >&2
  exit 2
}

kind=$1
shift
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  options+=("$1")
  shift
done
# A file may have a name such as `--servers=tools.json`.
[ $# -gt 0 ] || fail 'expected `--` as the last of the `args` of the hook, found none: names of files would be options'
shift
files=()
for name in "$@"; do
  case $name in -*) name=./$name ;; esac
  files+=("$name")
done

# A relative XDG_CACHE_HOME is ignored, as its specification says: the directory would be in the repository.
case ${XDG_CACHE_HOME:-} in /*) cache=$XDG_CACHE_HOME ;; *) cache=${HOME:?}/.cache ;; esac
cache=$cache/toolwire/hooks
mkdir -p "$cache"
cache=$(CDPATH= cd "$cache" && pwd -P)
repository=$(pwd -P)
case $cache/ in "${repository%/}"/*) fail 'expected a cache folder outside the repository that is checked, found one inside' ;; esac
# A directory of another user could contain another program.
own() { # FOLDER
  [ -O "$1" ] && [ ! -L "$1" ] || fail "expected a cache folder that belongs to the user, found another: $1"
}
own "$cache"
folder=$cache/$kind-$(version)-$(cksum <"$CI_FOLDER/package-lock.json" | tr ' ' -)
if [ ! -d "$folder" ]; then
  new=$(mktemp -d "$cache/new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  "install_$kind" "$new" || fail "could not install toolwire $(version) with $kind"
  # Moved atomically. If another commit was faster, `mv` moves this one into the existing folder, from where it is
  # removed.
  [ -d "$folder" ] || mv "$new" "$folder"
  rm -rf "$folder/${new##*/}"
fi
own "$folder"
"start_$kind" "$folder"
"${program[@]}" check --no-patterns ${options[@]+"${options[@]}"} ${files[@]+"${files[@]}"} </dev/null
