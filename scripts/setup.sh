#!/usr/bin/env bash
# Sets up everything that the project's commands need in addition to rustup, Node and Python. Takes well under a second if nothing changed.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

need() { command -v "$1" >/dev/null || die "expected \`$1\` on the PATH, found none: $2"; }
need rustup "install it from https://rustup.rs"
need cargo "run \`rustup default stable\`"
need cc "Rust uses it to link; on Debian \`apt-get install gcc libc6-dev\`"
need node "install Node 20.19 or later"
need npm "it is usually installed with Node"
need python3 "install Python 3.10 or later"

at_least() { # WANTED FOUND WHAT
  [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ] || die "expected $3 $1 or later, found $2"
}
rust=$(cargo --version 2>&1) || die "cargo does not run: $rust (is there a default toolchain? \`rustup default stable\`)"
at_least "$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)" "$(cut -d' ' -f2 <<<"$rust")" Rust
if strict; then
  named=$(release_compiler)
  [ "$(rustc --version | cut -d' ' -f2)" = "$named" ] ||
    die "expected Rust $named, which .github/workflows/release.yml names, found $(rustc --version): \`rustup toolchain install $named\` and RUSTUP_TOOLCHAIN=$named"
fi
# Vite, which builds the playground, needs 20.19. (The npm package itself runs in Node 18.)
at_least 20.19 "$(node -p process.versions.node)" Node
at_least 3.10 "$(python3 -c 'import platform; print(platform.python_version())')" Python

# Without enough space, compilers and linkers fail in the middle, with various messages.
free=$(df -Pk . | awk 'NR == 2 { print int($4 / 1048576) }')
[ "${free:-6}" -ge 6 ] || say "only $free GB of disk space are free: a first \`make test\` needs 5"

rust_components() {
  local component missing=()
  for component in rustfmt:cargo-fmt clippy:cargo-clippy; do
    "${component#*:}" --version >/dev/null 2>&1 || missing+=("${component%:*}")
  done
  [ ${#missing[@]} = 0 ] || step "rustup component add ${missing[*]}" "$TOOLS/rustup-components.log" rustup component add "${missing[@]}" ||
    die "rustup could not add ${missing[*]}, see $TOOLS/rustup-components.log"
}

python_environment() {
  [ -x python/.venv/bin/python ] || python3 -c 'import ensurepip, venv' 2>/dev/null ||
    die "this Python cannot make virtual environments; on Debian \`apt-get install python3-venv\`"
  step "Python environment in python/.venv" "$LOGS/python-setup.log" python/dev setup || die "python/dev setup failed"
}

rust_components
toolchain=$(scripts/wasm-toolchain.sh)
# In parallel with the downloads.
alongside scripts/wasm-tools.sh
scripts/npm-folder.sh npm
scripts/npm-folder.sh demo
# A link, because for a dependency in the demo's manifest npm would install the development tools of npm/ a second time.
ln -sfn ../../npm demo/node_modules/toolwire
python_environment
together
say "set-up: ready (Rust $(cut -d' ' -f2 <<<"$rust"), wasm by $toolchain, Node $(node --version), $(python/.venv/bin/python --version))"
