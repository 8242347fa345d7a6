#!/usr/bin/env bash
# Whoever has the source and the compiler can tell whether a package was made of it: two builds of the WebAssembly, in two folders and the
# second with nothing built before, give the same bytes.
# `reproducible.sh fast` compares what the compiler writes without optimisation: paths and order in it are what has differed, and those
# the optimiser neither brings nor takes away. `reproducible.sh` builds the file of the entry `toolwire` as it is shipped and compares it with
# the one in npm/dist, which takes two minutes, and `reproducible.sh all` does so with every file.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

case ${1:-} in
  all) entries="index:toolwire command:command" ;;
  fast | "") entries="index:toolwire" ;;
  *) die "expected \`fast\`, \`all\` or nothing, found \`$1\`" ;;
esac
wasm_toolchain=$(scripts/wasm-toolchain.sh)
if [ "${1:-}" != fast ]; then
  scripts/wasm-tools.sh
  scripts/build.sh npm
fi

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# With what is not committed yet, so that the two are the same source.
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy" 2>/dev/null
ln -s "$ROOT/npm/node_modules" "$copy/npm/node_modules"

compile() { # FOLDER TARGET-FOLDER
  cd "$1/bindings-wasm"
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS=$(node --input-type=module -e \
    'const { withoutPaths } = await import(process.argv[1]); console.log(withoutPaths(process.argv[2]))' "$1/npm/scripts/wasm.js" "$1")
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
  RUSTUP_TOOLCHAIN=$wasm_toolchain cargo build --release --locked --lib --target wasm32-unknown-unknown --target-dir "$2"
}

if [ "${1:-}" = fast ]; then
  # What this leaves is taken up again the next time; the other begins with nothing.
  here=$ROOT/target/reproducible
  (step "compile here" "$LOGS/reproducible-here.log" compile "$ROOT" "$here")
  (step "compile elsewhere, from nothing" "$LOGS/reproducible-copy.log" compile "$copy" "$copy/target")
  made=wasm32-unknown-unknown/release/toolwire_wasm.wasm
  cmp "$here/$made" "$copy/target/$made" || die "expected the same bytes from two compilations of one source, found others"
  say "the same bytes, $(sha256sum <"$here/$made" | cut -c1-16)…"
  exit
fi

shipped() { # NAME
  if [ -f "npm/dist/$1.wasm" ]; then cat "npm/dist/$1.wasm"; else node -e \
    'process.stdout.write(require("zlib").brotliDecompressSync(require("fs").readFileSync(process.argv[1])))' "npm/dist/$1.wasm.br"; fi
}
for entry in $entries; do
  folder=${entry%:*} file=${entry#*:}
  step "build $file.wasm again, from nothing" "$LOGS/reproducible-$folder.log" env -u CARGO_TARGET_DIR RUSTUP_TOOLCHAIN="$wasm_toolchain" \
    node "$copy/npm/scripts/wasm.js" "$folder"
  # The package's file has a section more, at its end, that says what it is.
  made=$copy/bindings-wasm/pkg/$folder/toolwire_wasm_bg.wasm
  shipped "$file" | head -c "$(wc -c <"$made")" | cmp - "$made" || die "$file.wasm: expected the same bytes from two builds of one source, found others"
  say "$file.wasm: the same bytes, $(sha256sum <"$made" | cut -c1-16)…"
done
