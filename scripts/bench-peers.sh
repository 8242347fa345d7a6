#!/usr/bin/env bash
# Compares toolwire with other packages, in each language: with those that adapt tool schemas to an API, on real tools
# and in an agent's session; and with those that validate arguments, on calls to the same tools and on recorded calls.
# The peers are installed in their own folders (some minutes the first time).
#
# The tools: the given file (JSON lines with `inputSchema`), or the reference data next to the checkout, or the demo's
# tools.
set -euo pipefail
source "$(dirname "$0")/step.sh"
start=$PWD
cd "$ROOT"
scripts/setup.sh
scripts/build.sh
data=$(cd "$start" && "$ROOT/scripts/bench-data.sh" "${1:-}")

# peers FOLDER KEYFILE COMMAND...: installs the packages that the key file pins, if it has changed.
peers() {
  local folder=$1 pins=$2 stamp=$1/.installed
  shift 2
  fresh "$stamp" "$(sha256sum "$pins")" && return
  step "peers in $folder" "$LOGS/peers-${folder//\//-}.log" "$@" || die "installing the peers failed in $folder"
  sha256sum "$pins" >"$stamp"
}
# `--ignore-scripts`: the measured functions need no install scripts.
peers npm/bench/peers npm/bench/peers/package-lock.json npm ci --prefix npm/bench/peers --no-audit --no-fund --ignore-scripts
python_peers() { python3 -m venv python/bench/peers/.venv && python/bench/peers/.venv/bin/pip install --quiet --require-hashes --no-deps --requirement python/bench/peers/requirements.txt; }
peers python/bench/peers python/bench/peers/requirements.txt python_peers
step "build Rust peers" "$LOGS/build-peers.log" cargo build --release --locked --manifest-path core/benches/peers/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/peers"

heading "tools: $data, at commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
echo
"${CARGO_TARGET_DIR:-target}/peers/release/toolwire-peers" "$data"
echo
node --expose-gc npm/bench/peers/run.js "$data"
echo
PYTHONPATH=python/src python/bench/peers/.venv/bin/python python/bench/peers/run.py "$data"

heading "a session"
node demo/tools.mjs >"$ROOT/target/demo-tools.jsonl"
echo
"${CARGO_TARGET_DIR:-target}/peers/release/session" "$ROOT/target/demo-tools.jsonl"
echo
node --expose-gc npm/bench/peers/session.js "$ROOT/target/demo-tools.jsonl"
echo
PYTHONPATH=python/src python/bench/peers/.venv/bin/python python/bench/peers/session.py "$ROOT/target/demo-tools.jsonl"

heading "calls"
calls=$ROOT/target/bench-calls.jsonl
node npm/bench/peers/calls.js "$data" tests/sample ../shared/data >"$calls"
echo
"${CARGO_TARGET_DIR:-target}/peers/release/arguments" "$calls"
echo
node --expose-gc npm/bench/peers/arguments.js "$calls"
echo
PYTHONPATH=python/src python/bench/peers/.venv/bin/python python/bench/peers/arguments.py "$calls"

heading "damaged calls"
echo
node npm/bench/peers/repairs.js
echo
PYTHONPATH=python/src python/bench/peers/.venv/bin/python python/bench/peers/repairs.py
