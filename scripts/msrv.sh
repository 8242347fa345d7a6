#!/usr/bin/env bash
# Compiles every crate, with all features, with the oldest Rust that Cargo.toml supports (`rust-version`). If rustup cannot download it,
# only clippy's lint `incompatible_msrv` has checked it, and this script reports that.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
[ -n "$version" ] || die "Cargo.toml: expected a \`rust-version\`, found none"

installed() { rustup toolchain list | grep -q "^$version\(\.0\)\?-"; }
refused=$TOOLS/rustup-$version-refused
if ! installed && [ ! -e "$refused" ]; then
  attempt "rustup toolchain install $version (120 s at most, once)" "$TOOLS/rustup-$version.log" \
    timeout 120 rustup toolchain install "$version" --profile minimal --no-self-update || touch "$refused"
fi
if ! installed; then
  echo "skipped: rustup cannot fetch Rust $version here (delete $refused to try again); only clippy's lint incompatible_msrv has checked it"
  exit 0
fi

# Without the tests, whose dependencies may need a newer version.
cargo "+$version" check --workspace --all-features --lib --locked --target-dir "$ROOT/target/msrv"
