#!/usr/bin/env bash
# Microseconds per real tool in each language, beside what the language itself takes for parsing and printing.
# The tools: the file given (JSON lines with `inputSchema`), else the reference data beside the checkout, else the demo's.
set -euo pipefail
source "$(dirname "$0")/step.sh"
start=$PWD
cd "$ROOT"
scripts/setup.sh
scripts/build.sh

data=${1:-../shared/data/mcp_tools.jsonl}
[ -z "${1:-}" ] || data=$(cd "$start" && realpath -e "$1") || die "expected a file of tools, one JSON object per line, found none at $1"
if [ ! -f "$data" ]; then
  data=$ROOT/target/demo-tools.jsonl
  node demo/tools.mjs >"$data"
fi
data=$(realpath "$data")
step "build Rust benchmarks" "$LOGS/build-bench.log" cargo build --release --locked -p toolwire --example bench --example requests

heading "tools: $data"
echo
cargo run --quiet --release --locked -p toolwire --example bench -- "$data"
echo
npm run --silent --prefix npm bench -- "$data"
echo
python/dev bench "$data"

heading "requests of 10 MB"
echo
cargo run --quiet --release --locked -p toolwire --example requests
echo
npm run --silent --prefix npm bench:requests
echo
python/.venv/bin/python python/bench/requests.py
