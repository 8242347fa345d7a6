#!/usr/bin/env bash
# Checks that anyone can reproduce the WebAssembly from the source: two builds, in two folders and the second from
# scratch, give the same bytes.
#
# `reproducible.sh fast` compares unoptimized output of the compiler: earlier differences were in paths and order, which
# the optimizer does not affect. `reproducible.sh` builds the shipped file, and compares it with that in npm/dist, which takes two minutes.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

case ${1:-} in fast | "") ;; *) die "expected \`fast\` or nothing, found \`$1\`" ;; esac
wasm_toolchain=$(scripts/rust.sh toolchain)
if [ "${1:-}" != fast ]; then
  scripts/rust.sh tools
  scripts/build.sh npm
fi

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# Includes uncommitted changes, so that both builds have the same source.
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy" 2>/dev/null
ln -s "$ROOT/npm/node_modules" "$copy/npm/node_modules"

compile() { # FOLDER TARGET-FOLDER
  cd "$1/bindings-wasm"
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS=$(node --input-type=module -e \
    'const { withoutPaths } = await import(process.argv[1]); console.log(withoutPaths(process.argv[2]))' "$1/npm/scripts/wasm.js" "$1")
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
  RUSTUP_TOOLCHAIN=$wasm_toolchain cargo build --release --locked --lib --target wasm32-unknown-unknown --target-dir "$2"
}

if [ "${1:-}" = fast ]; then
  # The first build is incremental, the second starts from scratch.
  here=$ROOT/target/reproducible
  (step "compile here" "$LOGS/reproducible-here.log" compile "$ROOT" "$here")
  (step "compile in another folder, from scratch" "$LOGS/reproducible-copy.log" compile "$copy" "$copy/target")
  made=wasm32-unknown-unknown/release/toolwire_wasm.wasm
  cmp "$here/$made" "$copy/target/$made" || die "expected the same bytes from two compilations of one source, found different ones"
  say "the same bytes, $(sha256sum <"$here/$made" | cut -c1-16)…"
  exit
fi

step "build toolwire.wasm again, from scratch" "$LOGS/reproducible-index.log" env -u CARGO_TARGET_DIR RUSTUP_TOOLCHAIN="$wasm_toolchain" \
  node "$copy/npm/scripts/wasm.js" index
# The shipped file has an additional section at its end, which identifies it.
made=$copy/bindings-wasm/pkg/index/toolwire_wasm_bg.wasm
head -c "$(wc -c <"$made")" npm/dist/toolwire.wasm | cmp - "$made" || die "toolwire.wasm: expected the same bytes from two builds of one source, found others"
say "toolwire.wasm: the same bytes, $(sha256sum <"$made" | cut -c1-16)…"
