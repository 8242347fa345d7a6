#!/usr/bin/env bash
# Builds the published packages into target/packages/: the crate, the wheel for this machine and the sdist, the npm
# tarball. `package.sh crate`, `python` or `npm` builds one of them.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
only=${1:-all}
case $only in all | crate | python | npm) ;; *) die "expected \`crate\`, \`python\`, \`npm\` or nothing, found \`$only\`" ;; esac
version=$(scripts/version.sh)
scripts/setup.sh
out=$ROOT/target/packages
rm -rf "$out" && mkdir -p "$out"

wanted() { [ "$only" = all ] || [ "$only" = "$1" ]; }

if wanted crate; then
  # Like `cargo publish`, this compiles the packed crate. Uncommitted changes are allowed here, and refused by `cargo
  # publish`.
  step "crate" "$LOGS/package-crate.log" cargo package -p toolwire --locked --allow-dirty
  cp "$(cargo metadata --no-deps --format-version 1 --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/package/toolwire-$version.crate" "$out"
fi
if wanted python; then
  maturin() { (cd python && VIRTUAL_ENV="$PWD/.venv" .venv/bin/maturin "$@" --out "$out"); }
  step "wheel for this machine" "$LOGS/package-wheel.log" maturin build --release --locked
  step "sdist" "$LOGS/package-sdist.log" maturin sdist
  step "wheel and sdist, as PyPI reads them" "$LOGS/package-twine.log" python/.venv/bin/twine check --strict "$out"/*.whl "$out"/*.tar.gz
fi
if wanted npm; then
  scripts/build.sh npm
  step "npm tarball" "$LOGS/package-npm.log" npm pack --ignore-scripts --pack-destination "$out" ./npm
fi

heading "in target/packages"
(cd "$out" && wc -c -- * | sed '/ total$/d' >&2)
