#!/usr/bin/env bash
# Runs the set-up and all builds, and then the demo with the given arguments.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
TOOLWIRE_BUILD=${TOOLWIRE_BUILD:-quick} scripts/build.sh
echo >&2
exec node demo/demo.mjs "$@"
