#!/usr/bin/env bash
# setup.sh: sets up everything that the project's commands need in addition to rustup, Node and Python. Takes well under a second if nothing
# changed.
# setup.sh demo: only what the builds for `make demo` need, without the tools of tests and lints, and of the WebAssembly (build.sh installs those).
# setup.sh npm FOLDER: installs the packages of the folder's lock file, if it or Node has changed.
# setup.sh packaging: installs the tools of the packaging tests (bundlers, Deno, Bun, workerd: half a gigabyte) once per machine, for all
# checkouts, and links them as npm/packaging/node_modules.
# setup.sh chromium: finds a Chromium for the tests that need a real browser: an installed one, or Debian's package, if it can be installed
# without asking. If neither is possible, those tests are skipped with a message; this command never fails.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

npm_folder() { # FOLDER
  local folder=$1 stamp key
  stamp=$folder/node_modules/.toolwire
  key="$(sha256sum "$folder/package.json" "$folder/package-lock.json") $(node --version)"
  fresh "$stamp" "$key" && return
  # No package needs its install scripts.
  step "npm ci in $folder" "$LOGS/npm-ci-${folder//\//-}.log" npm ci --prefix "$folder" --no-audit --no-fund --ignore-scripts || die "npm ci failed in $folder"
  if strict; then node npm/scripts/locked.js "$folder" || die "the packages installed in $folder differ from its lock file"; fi
  echo "$key" >"$stamp"
}

packaging() {
  folder=$ROOT/npm/packaging
  key=$(cat "$folder/package.json" "$folder/package-lock.json" <(node --version) | sha256sum | cut -c1-16)
  installed=$TOOLS/npm-packaging-$key

  install_tools() { # in its own folder, so that broken or concurrent installations do no harm
    local scratch=$TOOLS/npm-packaging-new-$$
    rm -rf "$scratch" && mkdir "$scratch" && cp "$folder/package.json" "$folder/package-lock.json" "$scratch"
    # `npm ci` is not used, because it refuses a lock file if the registry, perhaps a mirror, lacks the binaries of other
    # platforms.
    npm install --prefix "$scratch" --no-audit --no-fund --no-update-notifier || return
    if strict; then node "$ROOT/npm/scripts/locked.js" "$scratch" "$folder/package-lock.json" || return; fi
    if [ -d "$installed" ]; then rm -rf "$scratch"; else mv "$scratch" "$installed"; fi
  }

  [ -d "$installed" ] ||
    step "install the tools of the packaging tests (half a minute, once)" "$LOGS/npm-packaging.log" install_tools ||
    die "could not install the tools of the packaging tests, see $LOGS/npm-packaging.log"
  if [ "$(readlink "$folder/node_modules")" != "$installed/node_modules" ]; then
    rm -rf "$folder/node_modules"
    ln -s "$installed/node_modules" "$folder/node_modules"
  fi
}

find_chromium() {
  for name in "${TOOLWIRE_CHROMIUM:-}" chromium google-chrome chromium-browser; do
    [ -n "$name" ] && command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1 && return
  done

  without() { say "no Chromium: $*; browser tests are skipped"; exit; }
  # Ubuntu's package with this name only installs a snap.
  [ "$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null)" = debian ] || without "none on the PATH, and this is not Debian"
  [ "$(id -u)" = 0 ] || without "none on the PATH, and only root may install it"
  failed=$TOOLS/chromium-failed
  [ ! -e "$failed" ] || without "installing it has failed before; remove $failed to try again"

  install_chromium() {
    apt-get update && env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium
  }
  export -f install_chromium
  attempt "install Debian's Chromium (once)" "$TOOLS/chromium.log" timeout 600 bash -c install_chromium ||
    { touch "$failed"; without "apt-get failed, see $TOOLS/chromium.log"; }
}

case ${1:-} in
  "" | demo) ;;
  npm) npm_folder "$2"; exit ;;
  packaging) packaging; exit ;;
  chromium) find_chromium; exit ;;
  *) die "expected \`demo\`, \`npm\`, \`packaging\`, \`chromium\` or nothing, found \`$1\`" ;;
esac

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

python_environment() { # COMMAND
  [ -x python/.venv/bin/python ] || python3 -c 'import ensurepip, venv' 2>/dev/null ||
    die "this Python cannot make virtual environments; on Debian \`apt-get install python3-venv\`"
  step "Python environment in python/.venv" "$LOGS/python-setup.log" python/dev "$1" || die "python/dev $1 failed"
}

npm_folders() {
  npm_folder npm
  npm_folder demo
  # A link, because for a dependency in the demo's manifest npm would install the development tools of npm/ a second time.
  ln -sfn ../../npm demo/node_modules/toolwire
}

toolchain=$(scripts/rust.sh toolchain)
if [ "${1:-}" = demo ]; then
  alongside npm_folders
  python_environment builder
else
  rust_components
  # In parallel with the downloads.
  alongside scripts/rust.sh tools
  npm_folders
  python_environment setup
fi
together
say "set-up: ready (Rust $(cut -d' ' -f2 <<<"$rust"), wasm by $toolchain, Node $(node --version), $(python/.venv/bin/python --version))"
