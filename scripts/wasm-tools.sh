#!/usr/bin/env bash
# Installs exact versions of wasm-pack and the wasm-bindgen CLI into the tools folder, once. wasm-pack requires a CLI of
# the same version as the crate in Cargo.lock.
set -euo pipefail
source "$(dirname "$0")/step.sh"

wasm_pack=0.15.1
wasm_bindgen=$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"$/\1/p}' "$ROOT/Cargo.lock")
[ -n "$wasm_bindgen" ] || die "Cargo.lock: expected a package \`wasm-bindgen\`, found none"

# ensure PROGRAM CRATE VERSION
ensure() {
  local program=$1 crate=$2 version=$3 log=$TOOLS/$2.log
  case "$("$TOOLS/bin/$program" --version 2>/dev/null)" in "$program $version" | "$program $version "*) return ;; esac
  # Unoptimized: it builds in a third of the time, and makes wasm-bindgen a quarter of a second slower for our module.
  install() { CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 cargo install "$crate" --version "=$version" --root "$TOOLS" --force "$@"; }
  attempt "install $crate $version (a minute or two, once)" "$log" install --locked && return
  if strict; then die "cargo install --locked $crate failed, and a release accepts no other dependencies, see $log"; fi
  # A mirror may lack single releases that the tool's lock file names. The tool's own version is still exact.
  grep -q 'failed to select a version' "$log" || die "cargo install $crate failed: $(grep -m 1 '^error' "$log"), see $log"
  say "this registry lacks a dependency that the lock file of $crate names; installing with those that it has"
  step "install $crate $version with other dependencies" "$log" install || die "cargo install $crate failed, see $log"
}

ensure wasm-pack wasm-pack "$wasm_pack"
ensure wasm-bindgen wasm-bindgen-cli "$wasm_bindgen"
