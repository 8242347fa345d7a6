#!/usr/bin/env bash
# Finds a Chromium for the tests that need a real browser: an installed one, or Debian's package, if it can be installed
# without asking. If neither is possible, those tests are skipped with a message; this script never fails.
set -euo pipefail
source "$(dirname "$0")/step.sh"

for name in "${TOOLWIRE_CHROMIUM:-}" chromium google-chrome chromium-browser; do
  [ -n "$name" ] && command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1 && exit
done

without() { say "no Chromium: $*; browser tests are skipped"; exit; }
# Ubuntu's package with this name only installs a snap.
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
