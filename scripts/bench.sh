#!/usr/bin/env bash
# Measures microseconds per real tool in each language, relative to the language's own parsing and printing. The tools:
# the given file (JSON lines with `inputSchema`), or the reference data next to the checkout, or the demo's tools.
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
