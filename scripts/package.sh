#!/usr/bin/env bash
# Builds the published packages into target/packages/: the crates; the program of this machine, in an archive, in npm's package of the platform,
# in a bundle for Claude Desktop and as an image; the wheel for this machine and the sdist; the npm tarball. `package.sh crate`, `program`,
# `python` or `npm` builds some of them.
#
# TOOLWIRE_PROGRAMS is a folder with the programs of several platforms, as the release workflow compiles them.
#
# package.sh compile [TARGET]: compiles the native program for a target, copies it to target/programs/PLATFORM/, and to the folder from which
# maturin takes the program of a wheel. On Linux, the default target is musl's: a static program, which runs with every C library. With
# TOOLWIRE_BUILD=quick, which the tests of packages use, it copies the program that `scripts/build.sh` has compiled for this machine.
#
# package.sh check [TAG]: checks everything in a release that needs no key: versions, workflows, all packages, the registries' validation of
# them, and a build of the sdist with only pip and Rust. With a tag (`package.sh check v1.2.3`), it is as strict as for a release. It needs
# network access to the registries: for the build backend, and for two registries' checks of the packages.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
out=$ROOT/target/packages

compile() { # [TARGET]
  local host target platform name built
  host=$(rustc -vV | sed -n 's/^host: //p')
  target=${1:-${host/-linux-gnu/-linux-musl}}
  # A relative name: on Windows, Node does not import an absolute path.
  platform=$(node --input-type=module -e '
    const { PLATFORMS } = await import("./npm/scripts/platforms.js");
    console.log(PLATFORMS.find(({ target }) => target === process.argv[1])?.name ?? "");' "$target")
  [ -n "$platform" ] || die "expected a target of npm/scripts/platforms.js, found \`$target\`"
  case $target in *windows*) name=toolwire.exe ;; *) name=toolwire ;; esac
  built=$(cargo metadata --no-deps --format-version 1 --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/;s/\\\\/\//g')

  cargo_build() {
    # The C code of cryptography and decoders, for musl.
    case $target in *-linux-musl) export "CC_${target//-/_}=${CC_MUSL:-musl-gcc}" ;; esac
    cargo build --release --locked --package toolwire-cli --bin toolwire --target "$target"
  }
  mkdir -p "target/programs/$platform" python/toolwire._toolwire.data/scripts
  if [ "${TOOLWIRE_BUILD:-}" = quick ]; then
    cp "$built/debug/$name" "target/programs/$platform/$name"
    strip "target/programs/$platform/$name"
  else
    rustup target list --installed | grep -qx "$target" || step "rustup target add $target" "$LOGS/rustup-target.log" rustup target add "$target" ||
      die "the program needs Rust's target $target"
    case $target in *-linux-musl) command -v "${CC_MUSL:-musl-gcc}" >/dev/null || die "expected musl-gcc, found none; on Debian \`apt-get install musl-tools\`" ;; esac
    step "program for $platform" "$LOGS/program-$platform.log" cargo_build
    cp "$built/$target/release/$name" "target/programs/$platform/$name"
  fi
  cp "target/programs/$platform/$name" python/toolwire._toolwire.data/scripts/
  echo "target/programs/$platform/$name"
}

packages() { # [PART]
  local only=${1:-all} version programs packed
  version=$(scripts/version.sh)
  scripts/setup.sh
  rm -rf "$out" && mkdir -p "$out"

  wanted() { [ "$only" = all ] || [ "$only" = "$1" ]; }

  programs=${TOOLWIRE_PROGRAMS:-target/programs}
  if [ -z "${TOOLWIRE_PROGRAMS:-}" ] && { wanted program || wanted python; }; then compile >/dev/null; fi

  if wanted crate; then
    # Like `cargo publish`, this compiles the packed crate. Uncommitted changes are allowed here, and refused by `cargo
    # publish`.
    step "crate" "$LOGS/package-crate.log" cargo package -p toolwire --locked --allow-dirty
    # These depend on the crate, which is packed with them, because the registry does not have this version yet.
    step "other crates" "$LOGS/package-crates.log" cargo package -p toolwire -p toolwire-http -p toolwire-command -p toolwire-cli --locked --allow-dirty --no-verify
    packed=$(cargo metadata --no-deps --format-version 1 --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/package
    for crate in toolwire toolwire-http toolwire-command toolwire-cli; do cp "$packed/$crate-$version.crate" "$out"; done
  fi
  if wanted program; then
    step "man page and completions" "$LOGS/package-texts.log" cargo xtask texts target/texts
    step "archives, npm's platforms, bundles, image" "$LOGS/package-bundle.log" node scripts/bundle.mjs "$programs" target/texts "$out"
  fi
  if wanted python; then
    maturin() { (cd python && VIRTUAL_ENV="$PWD/.venv" .venv/bin/maturin "$@" --out "$out"); }
    step "wheel for this machine" "$LOGS/package-wheel.log" maturin build --release --locked
    step "sdist" "$LOGS/package-sdist.log" maturin sdist
    # By a pattern: PyPI writes the version `1.2.3-rc.1` as `1.2.3rc1`.
    step "wheel and sdist, as PyPI reads them" "$LOGS/package-twine.log" python/.venv/bin/twine check --strict "$out"/*.whl "$out"/toolwire-[0-9]*.tar.gz
  fi
  if wanted npm; then
    scripts/build.sh npm
    step "npm tarball" "$LOGS/package-npm.log" node npm/scripts/pack.js "$out"
  fi

  heading "in target/packages"
  (cd "$out" && find . -type f ! -path './image/*/etc/*' | sort | xargs wc -c | sed '/ total$/d' >&2)
}

check() { # [TAG]
  if [ $# -gt 0 ]; then
    export TOOLWIRE_STRICT=1 RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN:-$(release_compiler)}
  fi
  local version tarball
  version=$(scripts/version.sh "$@")
  scripts/setup.sh
  scripts/setup.sh packaging
  make --no-print-directory lint-workflows
  packages
  step "the documented sizes" "$LOGS/sizes.log" npm run --silent --prefix npm sizes -- --check
  step "the age of the figures" "$LOGS/age-of-figures.log" node scripts/figures.mjs age
  step "dry run of cargo publish" "$LOGS/publish-crate.log" cargo publish -p toolwire -p toolwire-http -p toolwire-command -p toolwire-cli --dry-run --no-verify --locked --allow-dirty
  for tarball in "$out"/*.tgz; do
    step "dry run of npm publish, $(basename "$tarball")" "$LOGS/publish-npm.log" npm publish --dry-run --ignore-scripts --access public "$tarball"
  done
  from_sdist() {
    local scratch
    scratch=$(mktemp -d) || return
    python3 -m venv "$scratch/venv" &&
      (cd "$scratch" && env -u VIRTUAL_ENV -u CARGO_TARGET_DIR "$scratch/venv/bin/pip" install --no-binary toolwire "$out"/toolwire-[0-9]*.tar.gz &&
        "$scratch/venv/bin/python" -I -c 'import toolwire; print(toolwire.__version__, toolwire.sanitize({}, dialect="codex"))') || { rm -rf "$scratch"; return 1; }
    rm -rf "$scratch"
  }
  step "pip builds the sdist in an empty environment" "$LOGS/publish-sdist.log" from_sdist
  heading "version $version is ready to be released, as far as can be told without keys"
}

case ${1:-all} in
  all | crate | program | python | npm) packages "$@" ;;
  compile | check) "$@" ;;
  *) die "expected \`crate\`, \`program\`, \`python\`, \`npm\`, \`compile\`, \`check\` or nothing, found \`$1\`" ;;
esac
