#!/usr/bin/env bash
# Builds the WebAssembly once more, from a copy of what git has, in another folder and with nothing built before, and compares the bytes
# with those in npm/dist: whoever has the source and the compiler can tell whether a package was made of it.
# `reproducible.sh all` compares every file; without, the one of the entry `toolwire`, which takes three minutes.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

case ${1:-} in
  all) entries="index:toolwire search:search search-regex:search-regex command:command" ;;
  "") entries="index:toolwire" ;;
  *) die "expected \`all\` or nothing, found \`$1\`" ;;
esac
wasm_toolchain=$(scripts/wasm-toolchain.sh)
scripts/wasm-tools.sh
scripts/build.sh npm

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# With what is not committed yet, so that the two are the same source.
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy" 2>/dev/null
ln -s "$ROOT/npm/node_modules" "$copy/npm/node_modules"
for entry in $entries; do
  folder=${entry%:*} file=${entry#*:}
  step "build $file.wasm again, from nothing" "$LOGS/reproducible-$folder.log" env -u CARGO_TARGET_DIR RUSTUP_TOOLCHAIN="$wasm_toolchain" \
    node "$copy/npm/scripts/wasm.js" "$folder"
  # The package's file has a section more, at its end, that says what it is.
  made=$copy/bindings-wasm/pkg/$folder/toolwire_wasm_bg.wasm
  head -c "$(wc -c <"$made")" "npm/dist/$file.wasm" | cmp - "$made" || die "$file.wasm: expected the same bytes from two builds of one source, found others"
  say "$file.wasm: the same bytes, $(sha256sum <"$made" | cut -c1-16)…"
done
