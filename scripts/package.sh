#!/usr/bin/env bash
# Builds the published packages into target/packages/: the crates; the program of this machine, in an archive, in npm's package of the platform,
# in a bundle for Claude Desktop and as an image; the wheel for this machine and the sdist; the npm tarball. `package.sh crate`, `program`,
# `python` or `npm` builds some of them.
#
# TOOLWIRE_PROGRAMS is a folder with the programs of several platforms, as the release workflow compiles them.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
only=${1:-all}
case $only in all | crate | program | python | npm) ;; *) die "expected \`crate\`, \`program\`, \`python\`, \`npm\` or nothing, found \`$only\`" ;; esac
version=$(scripts/version.sh)
scripts/setup.sh
out=$ROOT/target/packages
rm -rf "$out" && mkdir -p "$out"

wanted() { [ "$only" = all ] || [ "$only" = "$1" ]; }

programs=${TOOLWIRE_PROGRAMS:-target/programs}
if [ -z "${TOOLWIRE_PROGRAMS:-}" ] && { wanted program || wanted python; }; then scripts/program.sh >/dev/null; fi

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
