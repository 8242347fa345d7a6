#!/usr/bin/env bash
# Lints the program and its tests for Windows, which nothing else compiles here.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

target=x86_64-pc-windows-gnu
if ! rustup target list --installed 2>/dev/null | grep -qx $target; then
  echo "skipped: rustup has no library for $target (\`rustup target add $target\`)"
elif ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
  echo "skipped: no x86_64-w64-mingw32-gcc, which compiles the C parts of ring and zstd (Debian: gcc-mingw-w64-x86-64)"
else
  exec cargo clippy -p toolwire-cli --all-targets --locked --target $target -- -D warnings
fi
