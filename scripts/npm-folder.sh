#!/usr/bin/env bash
# npm-folder.sh FOLDER installs what the folder's lock file says, if that or Node has changed.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

folder=$1
stamp=$folder/node_modules/.toolwire
key="$(sha256sum "$folder/package.json" "$folder/package-lock.json") $(node --version)"
fresh "$stamp" "$key" && exit
step "npm ci in $folder" "$LOGS/npm-ci-${folder//\//-}.log" npm ci --prefix "$folder" --no-audit --no-fund || die "npm ci failed in $folder"
echo "$key" >"$stamp"
