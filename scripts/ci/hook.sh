#!/usr/bin/env bash
# What .pre-commit-hooks.yaml runs: `toolwire check` with the hook's options and files. `hook.sh npm|uv OPTION… -- FILE…`
#
# The program comes from a cache folder of the user's, never from the repository that is checked: `npx` would take its `node_modules` and
# the registry of its `.npmrc`, `uvx` its `uv.toml`. It runs in bash 3.2, too, which macOS has: an empty array is unset to it.
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
# A file may be called `--servers=tools.json`.
[ $# -gt 0 ] || fail 'expected `--` as the last of the `args` of the hook, found none: names of files would be options'
shift
files=()
for name in "$@"; do
  case $name in -*) name=./$name ;; esac
  files+=("$name")
done

cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/toolwire/hooks
folder=$cache/$kind-$(version)-$(cksum <"$CI_FOLDER/package-lock.json" | tr ' ' -)
if [ ! -d "$folder" ]; then
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  "install_$kind" "$new" || fail "expected to install toolwire $(version) with $kind, found that it fails"
  # Whole or not at all; another commit may have been faster.
  [ -d "$folder" ] || mv "$new" "$folder"
fi
"start_$kind" "$folder"
"${program[@]}" check ${options[@]+"${options[@]}"} ${files[@]+"${files[@]}"} </dev/null
