#!/usr/bin/env bash
# Runs the clients of tests/clients, which need 1 GB, through `toolwire relay`.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

scripts/setup.sh
scripts/build.sh npm
scripts/build.sh python
install() {
  # Not `npm ci`: it refuses the lock file where a registry has no packages of opencode for other platforms.
  npm install --prefix tests/clients --ignore-scripts --no-audit --no-fund
  # Two of them install their binary with a script.
  (cd tests/clients && npm rebuild @anthropic-ai/claude-code opencode-ai)
  node npm/scripts/locked.js tests/clients
}
step "npm ci in tests/clients" "$LOGS/clients-setup.log" install
npm test --silent --prefix tests/clients
