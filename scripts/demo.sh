#!/usr/bin/env bash
# All set-up and builds, then the demo. Its arguments go to the demo.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh
echo >&2
exec node demo/demo.mjs "$@"
