#!/usr/bin/env bash
# Removes what was built and installed in this checkout. Tools that are installed once per machine are kept.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf target npm/{dist,pkg,node_modules} npm/playground/{node_modules,dist} npm/examples/{node_modules,dist} npm/packaging/{node_modules,projects/node_modules,projects/*/dist} docs/site/{node_modules,dist,target} demo/node_modules python/examples/{.venv,.pytest_cache,.mypy_cache} python/{dist,.venv,.pytest_cache,.mypy_cache,.ruff_cache}
rm -f npm/*.tgz npm/packaging/projects/*.tgz python/src/toolwire/*.so
