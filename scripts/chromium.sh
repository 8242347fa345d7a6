#!/usr/bin/env bash
# A Chromium for the tests that need a real browser: the one there is, else Debian's, where this may be installed without
# asking. Where neither is possible, those tests say that they are skipped; this never fails.
set -euo pipefail
source "$(dirname "$0")/step.sh"

for name in "${TOOLWIRE_CHROMIUM:-}" chromium google-chrome chromium-browser; do
  [ -n "$name" ] && command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1 && exit
done

without() { say "no Chromium: $*; tests in a browser are skipped"; exit; }
# Ubuntu's package of that name is a door to another store.
[ "$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null)" = debian ] || without "none on the PATH, and this is not Debian"
[ "$(id -u)" = 0 ] || without "none on the PATH, and only root may install it"
failed=$TOOLS/chromium-failed
[ ! -e "$failed" ] || without "installing it has failed before; remove $failed to try again"

install() {
  apt-get update && env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium
}
export -f install
attempt "install Debian's Chromium (once)" "$TOOLS/chromium.log" timeout 600 bash -c install ||
  { touch "$failed"; without "apt-get failed, see $TOOLS/chromium.log"; }
