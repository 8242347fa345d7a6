#!/usr/bin/env bash
# clippy.sh wasm|windows: lints the WebAssembly bindings for their own target, or the program and its tests for Windows, which nothing else
# compiles here.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

wasm() {
  if rustup target list --installed | grep -qx wasm32-unknown-unknown; then
    exec cargo clippy -p toolwire-wasm --locked --target wasm32-unknown-unknown -- -D warnings
  fi
  # Debian's compiler, which builds the WebAssembly here, has no clippy. `make lint-clippy` lints the crate for the host.
  echo "skipped: rustup has no library for that target; linted for this machine only"
}

windows() {
  target=x86_64-pc-windows-gnu
  if ! rustup target list --installed 2>/dev/null | grep -qx $target; then
    echo "skipped: rustup has no library for $target (\`rustup target add $target\`)"
  elif ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    echo "skipped: no x86_64-w64-mingw32-gcc, which compiles the C parts of ring and zstd (Debian: gcc-mingw-w64-x86-64)"
  else
    exec cargo clippy -p toolwire-cli --all-targets --locked --target $target -- -D warnings
  fi
}

case ${1:-} in wasm | windows) "$1" ;; *) die "expected \`wasm\` or \`windows\`, found \`${1:-}\`" ;; esac
