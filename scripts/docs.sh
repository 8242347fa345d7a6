#!/usr/bin/env bash
# Sets up and builds the documentation site, with search and the playground, and serves it if run on a terminal.
# `docs.sh build` only builds docs/site/dist, static files for any host; DOCS_BASE is the path under which the host
# serves them (default `/`).
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

if [ "${1:-}" != build ]; then
  scripts/setup.sh
  scripts/build.sh npm
fi
scripts/playground.sh build
scripts/npm-folder.sh docs/site

stamp=docs/site/dist/.made-from
key="$(hash_of docs README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md) $(cat npm/playground/dist/.made-from) ${DOCS_BASE:-/}"
if ! fresh "$stamp" "$key"; then
  step "build the documentation" "$LOGS/docs.log" npm run --silent --prefix docs/site build || die "could not build the documentation"
  echo "$key" >"$stamp"
fi
[ "${1:-}" = build ] && exit
say "serving the documentation; press Ctrl-C to stop"
exec npm run --silent --prefix docs/site preview
