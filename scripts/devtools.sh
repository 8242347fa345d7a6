#!/usr/bin/env bash
# Serves the built npm package for the console of any page (docs/typescript.md), with the CORS header that this needs.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

scripts/setup.sh
scripts/build.sh npm
scripts/npm-folder.sh npm/playground
say "paste into a page's console: const toolwire = await import('http://127.0.0.1:4174/index.js'); press Ctrl-C to stop"
exec npm run --silent --prefix npm/playground devtools
