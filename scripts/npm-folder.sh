#!/usr/bin/env bash
# npm-folder.sh FOLDER installs what the folder's lock file says, if that or Node has changed.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

folder=$1
stamp=$folder/node_modules/.toolwire
key="$(sha256sum "$folder/package.json" "$folder/package-lock.json") $(node --version)"
fresh "$stamp" "$key" && exit
# Nothing that is installed here needs to run while it is installed.
step "npm ci in $folder" "$LOGS/npm-ci-${folder//\//-}.log" npm ci --prefix "$folder" --no-audit --no-fund --ignore-scripts || die "npm ci failed in $folder"
if strict; then node npm/scripts/locked.js "$folder" || die "what is installed in $folder is not what its lock file names"; fi
echo "$key" >"$stamp"
