#!/usr/bin/env bash
# Installs the tools of the packaging tests (bundlers, Deno, Bun, workerd: half a gigabyte) once per machine, for all
# checkouts, and links them as npm/packaging/node_modules.
set -euo pipefail
source "$(dirname "$0")/step.sh"

folder=$ROOT/npm/packaging
key=$(cat "$folder/package.json" "$folder/package-lock.json" <(node --version) | sha256sum | cut -c1-16)
installed=$TOOLS/npm-packaging-$key

install() { # in its own folder, so that broken or concurrent installations do no harm
  local scratch=$TOOLS/npm-packaging-new-$$
  rm -rf "$scratch" && mkdir "$scratch" && cp "$folder/package.json" "$folder/package-lock.json" "$scratch"
  # `npm ci` is not used, because it refuses a lock file if the registry, perhaps a mirror, lacks the binaries of other
  # platforms.
  npm install --prefix "$scratch" --no-audit --no-fund --no-update-notifier || return
  if strict; then node "$ROOT/npm/scripts/locked.js" "$scratch" "$folder/package-lock.json" || return; fi
  if [ -d "$installed" ]; then rm -rf "$scratch"; else mv "$scratch" "$installed"; fi
}

[ -d "$installed" ] ||
  step "install the tools of the packaging tests (half a minute, once)" "$LOGS/npm-packaging.log" install ||
  die "could not install the tools of the packaging tests, see $LOGS/npm-packaging.log"
if [ "$(readlink "$folder/node_modules")" != "$installed/node_modules" ]; then
  rm -rf "$folder/node_modules"
  ln -s "$installed/node_modules" "$folder/node_modules"
fi
