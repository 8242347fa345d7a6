#!/usr/bin/env bash
# Measures all three languages in one run, and writes docs/performance.md with its plots. Nothing else should run at the
# same time. The tools: the given file (JSON lines with `inputSchema`), or the reference data next to the checkout, or
# the demo's tools.
set -euo pipefail
source "$(dirname "$0")/step.sh"
start=$PWD
cd "$ROOT"
scripts/setup.sh
scripts/build.sh
data=$(cd "$start" && "$ROOT/scripts/bench-data.sh" "${1:-}")
step "build Rust measurements" "$LOGS/build-figures.log" cargo build --release --locked -p toolwire --example figures --example growth
step "build the program" "$LOGS/build-program.log" cargo build --release --locked -p toolwire-cli --bin toolwire --example program
heading "tools: $data"
node scripts/figures.mjs "$data"
