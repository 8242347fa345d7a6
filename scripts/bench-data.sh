#!/usr/bin/env bash
# Prints the path of the tools for benchmarks: the given file (JSON lines with `inputSchema`), or the reference data
# next to the checkout, or the demo's tools.
set -euo pipefail
start=$PWD
source "$(dirname "$0")/step.sh"

if [ -n "${1:-}" ]; then
  cd "$start" && realpath -e "$1" 2>/dev/null || die "expected a file of tools, one JSON object per line, found none at $1"
elif [ -f "$ROOT/../shared/data/mcp_tools.jsonl" ]; then
  realpath "$ROOT/../shared/data/mcp_tools.jsonl"
else
  node "$ROOT/demo/tools.mjs" >"$ROOT/target/demo-tools.jsonl"
  echo "$ROOT/target/demo-tools.jsonl"
fi
