#!/usr/bin/env bash
# Runs the set-up and all builds, and then the demo with the given arguments. What only one of the three languages needs is installed
# and built next to the others, because in a new checkout that takes minutes.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
export TOOLWIRE_BUILD=${TOOLWIRE_BUILD:-quick}

if command -v cargo >/dev/null; then
  alongside scripts/wasm-tools.sh
  tools=${others[0]}
fi
# It says what is missing, if cargo is.
scripts/setup.sh demo
alongside scripts/build.sh demo
wait "$tools"
scripts/build.sh npm
together
echo >&2
exec env TOOLWIRE_PROFILE=release node demo/demo.mjs "$@"
