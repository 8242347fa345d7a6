#!/usr/bin/env bash
# Lints the WebAssembly bindings for their own target.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

if rustup target list --installed | grep -qx wasm32-unknown-unknown; then
  exec cargo clippy -p toolwire-wasm --locked --target wasm32-unknown-unknown -- -D warnings
fi
# Debian's compiler, which builds the WebAssembly here, has no clippy. `make lint-clippy` lints the crate for the host.
echo "skipped: rustup has no library for that target; linted for this machine only"
