#!/usr/bin/env bash
# Runs the clients of tests/clients, which need 1 GB, through `toolwire relay`. `clients.sh agents` runs their sessions
# before strict fakes instead, `clients.sh faults` runs them with an MCP server that has faults.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

scripts/setup.sh
scripts/build.sh npm
scripts/build.sh python
install() {
  local lock=tests/clients/package-lock.json saved=$LOGS/clients-package-lock.json status=0
  cp "$lock" "$saved"
  # `npm ci` is not used, because it refuses the lock file if the registry lacks opencode's packages for other
  # platforms. `npm install` may change the lock file, so the committed one is put back.
  npm install --prefix tests/clients --ignore-scripts --no-audit --no-fund || status=$?
  cp "$saved" "$lock"
  [ "$status" = 0 ] || return "$status"
  node npm/scripts/locked.js tests/clients "$lock" || return
  # Two of the packages install their binary with a script.
  (cd tests/clients && npm rebuild @anthropic-ai/claude-code opencode-ai)
}
step "npm ci in tests/clients" "$LOGS/clients-setup.log" install
case ${1:-test} in
test) npm test --silent --prefix tests/clients ;;
agents | faults) npm run --silent --prefix tests/clients "$1" ;;
*) die "expected \`test\`, \`agents\` or \`faults\`, found \`$1\`" ;;
esac
