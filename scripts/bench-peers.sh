#!/usr/bin/env bash
# toolwire against the other packages that make tool schemas fit an API, in each language, on the same real tools and in an
# agent's session; and against those that validate arguments, on calls of the same tools and on recorded ones. The peers are installed into
# folders of their own (some minutes the first time): nothing else needs them.
# The tools: the file given (JSON lines with `inputSchema`), else the reference data beside the checkout, else the demo's.
set -euo pipefail
source "$(dirname "$0")/step.sh"
start=$PWD
cd "$ROOT"
scripts/setup.sh
scripts/build.sh
data=$(cd "$start" && "$ROOT/scripts/bench-data.sh" "${1:-}")

# peers FOLDER KEYFILE COMMAND... installs what the key file pins, if that has changed.
peers() {
  local folder=$1 pins=$2 stamp=$1/.installed
  shift 2
  fresh "$stamp" "$(sha256sum "$pins")" && return
  step "peers in $folder" "$LOGS/peers-${folder//\//-}.log" "$@" || die "installing the peers failed in $folder"
  sha256sum "$pins" >"$stamp"
}
# `--ignore-scripts`: nothing of theirs has to run for a function call.
peers npm/bench/peers npm/bench/peers/package-lock.json npm ci --prefix npm/bench/peers --no-audit --no-fund --ignore-scripts
python_peers() { python3 -m venv python/bench/peers/.venv && python/bench/peers/.venv/bin/pip install --quiet --require-hashes --no-deps --requirement python/bench/peers/requirements.txt; }
peers python/bench/peers python/bench/peers/requirements.txt python_peers
step "build Rust peers" "$LOGS/build-peers.log" cargo build --release --locked --manifest-path core/benches/peers/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/peers"

heading "tools: $data"
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
