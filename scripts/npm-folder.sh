#!/usr/bin/env bash
# npm-folder.sh FOLDER: installs the packages of the folder's lock file, if it or Node has changed.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

folder=$1
stamp=$folder/node_modules/.toolwire
key="$(sha256sum "$folder/package.json" "$folder/package-lock.json") $(node --version)"
fresh "$stamp" "$key" && exit
# No package needs its install scripts.
step "npm ci in $folder" "$LOGS/npm-ci-${folder//\//-}.log" npm ci --prefix "$folder" --no-audit --no-fund --ignore-scripts || die "npm ci failed in $folder"
if strict; then node npm/scripts/locked.js "$folder" || die "the packages installed in $folder differ from its lock file"; fi
echo "$key" >"$stamp"
