#!/usr/bin/env bash
# Microseconds per real tool in each language, beside what the language itself takes for parsing and printing.
# The tools: the file given (JSON lines with `inputSchema`), else the reference data beside the checkout, else the demo's.
set -euo pipefail
source "$(dirname "$0")/step.sh"
start=$PWD
cd "$ROOT"
scripts/setup.sh
scripts/build.sh

data=$(cd "$start" && "$ROOT/scripts/bench-data.sh" "${1:-}")
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
