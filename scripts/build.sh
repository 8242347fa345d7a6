#!/usr/bin/env bash
# Builds what tests, demo and benchmarks use: the npm package (WebAssembly and TypeScript; `build.sh npm` builds only
# this), the Python extension, the native program and the demo's Rust program (both unoptimized, because they make few calls). Cargo detects
# what is up to date; the npm build is keyed by a hash of its sources.
#
# build.sh demo: also sets up what `make demo` needs. The tools of the WebAssembly, which take longest, are installed next to the builds that
# do not need them.
#
# TOOLWIRE_BUILD=quick, for tests and the demo, compiles the same code with less optimization. Everything that is
# published, measured or served uses release builds. TOOLWIRE_BUILD=wasm, for `make check`, is a release build of the WebAssembly, whose size has
# a limit, and a quick one of the Python extension, which saves five minutes. The workflow of a release tries the wheels that it publishes.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
quick_profile

npm_package() (
  stamp=$ROOT/target/npm-made-from
  wasm_profile
  wasm_toolchain=$(scripts/rust.sh toolchain)
  key=$(hash_of Cargo.toml Cargo.lock core/Cargo.toml core/src bindings-wasm npm/src npm/scripts npm/package.json npm/package-lock.json npm/tsconfig.json)
  key+=" $(RUSTUP_TOOLCHAIN=$wasm_toolchain rustc --version) ${TOOLWIRE_BUILD:-release} ${CARGO_PROFILE_RELEASE_OPT_LEVEL:-} ${CARGO_PROFILE_RELEASE_LTO:-}"
  if [ -f npm/dist/index.js ] && fresh "$stamp" "$key"; then return; fi
  # An interrupted build leaves a mix of old and new files, so the stamp is removed before the build.
  rm -f "$stamp"
  step "build npm (WebAssembly and TypeScript)" "$LOGS/build-npm.log" env RUSTUP_TOOLCHAIN="$wasm_toolchain" npm run --prefix npm build || return
  echo "$key" >"$stamp"
)
python_extension() { step "build Python extension" "$LOGS/build-python.log" python/dev "${1:-build}"; }
programs() {
  # With the features of the whole workspace, so that the core is compiled once for this, the tests and their examples.
  step "build the program and the Rust demo" "$LOGS/build-rust.log" cargo build --locked --workspace --bin toolwire --bin toolwire-demo "$@"
}
demo() {
  # Without cargo, the set-up says what is missing.
  if command -v cargo >/dev/null; then alongside scripts/rust.sh tools; fi
  local tools=${others[0]:-}
  scripts/setup.sh demo
  alongside python_extension compile
  # The few calls of the demo do not make up for the time that optimizing the core takes.
  alongside programs --config profile.dev.package.toolwire.opt-level=0
  if [ -n "$tools" ]; then
    wait "$tools" || die "the tools of the WebAssembly could not be installed"
    others=("${others[@]:1}")
  fi
  npm_package
  together
}
case ${1:-all} in
  all) ;;
  npm) npm_package; exit ;;
  demo) demo; exit ;;
  *) die "expected \`npm\`, \`demo\` or nothing, found \`$1\`" ;;
esac
# In parallel, because each spends most of its time optimizing one library, in one thread.
alongside npm_package
python_extension
programs
together
