#!/usr/bin/env bash
# sdks.sh [pairs|conformance|inspector]: runs the suites of tests/sdks, or one of them: MCP SDKs as clients and servers through `toolwire proxy`,
# the conformance suite of MCP, and the MCP Inspector.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

scripts/setup.sh
step "build the program" "$LOGS/build-rust.log" cargo build --locked --workspace --bin toolwire
scripts/npm-folder.sh tests/sdks
step "build the Rust SDK" "$LOGS/build-rmcp.log" \
  cargo build --locked --manifest-path tests/sdks/rust/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/sdks"
status=0
for suite in ${1:-pairs conformance inspector}; do
  case $suite in
    pairs | conformance | inspector) npm run --silent --prefix tests/sdks "$suite" || status=1 ;;
    *) die "expected \`pairs\`, \`conformance\` or \`inspector\`, found \`$suite\`" ;;
  esac
done
exit $status
