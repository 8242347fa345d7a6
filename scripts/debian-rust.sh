#!/usr/bin/env bash
# Installs Debian's Rust compiler with its source, for targets that rustup cannot download, and prints its name in
# rustup. The machine's default toolchain is unchanged.
set -euo pipefail
source "$(dirname "$0")/step.sh"

toolchain=toolwire-debian
packages="rustc-web cargo-web rust-web-src lld-19"

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}\n' $packages 2>/dev/null | sort | uniq -c | tr -s ' ')" = " 4 installed" ]; }
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else echo "not root, and no sudo" >&2; return 1
  fi
}
install_packages() {
  as_root apt-get update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
}

if ! installed; then
  command -v apt-get >/dev/null || die "rustup cannot fetch the target, and this machine has no apt-get to install Debian's compiler"
  step "install Debian's Rust compiler ($packages)" "$TOOLS/apt.log" install_packages || die "apt-get failed, see $TOOLS/apt.log"
fi
# Linked again each time, because the link becomes stale if the compiler is reinstalled.
rustup toolchain link "$toolchain" /usr >/dev/null 2>&1 ||
  die "\`rustup toolchain link $toolchain /usr\` failed: expected a compiler in /usr/bin"
echo "$toolchain"
