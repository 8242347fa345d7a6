#!/usr/bin/env bash
# Prints the path of the tools that benchmarks run over: the file given (JSON lines with `inputSchema`), else the reference
# data beside the checkout, else the demo's.
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
