#!/usr/bin/env bash
# Checks the crates against deny.toml: licenses, duplicates, sources, and RustSec advisories if they can be downloaded. `deny.sh install` first
# installs cargo-deny (two minutes, once). If that is impossible, the script reports that and succeeds, except for a release.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

version=0.20.2
case ${1:-} in
  "") ;;
  install)
    [ "$(cargo-deny --version 2>/dev/null)" = "cargo-deny $version" ] ||
      attempt "install cargo-deny $version (two minutes, once)" "$TOOLS/cargo-deny.log" \
        env -u RUSTUP_TOOLCHAIN CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        timeout 900 cargo install cargo-deny --version "=$version" --locked --force --root "$TOOLS" || true
    ;;
  *) die "expected \`install\` or nothing, found \`$1\`" ;;
esac

if ! command -v cargo-deny >/dev/null; then
  if strict; then die "cargo-deny is not installed, see $TOOLS/cargo-deny.log"; fi
  echo "skipped: cargo-deny is not installed (run \`scripts/deny.sh install\`); scripts/supply-chain.mjs still checks licenses and sources"
  exit 0
fi
cargo deny --locked --all-features check --hide-inclusion-graph bans licenses sources
# The advisories are in another repository, which a closed network does not reach.
if timeout 60 cargo deny --locked fetch db >/dev/null 2>&1; then
  cargo deny --locked --all-features check --hide-inclusion-graph --disable-fetch advisories
else
  if strict; then die "could not fetch RustSec's advisories"; fi
  echo "skipped: could not fetch RustSec's advisories"
fi
