#!/usr/bin/env bash
# Tests the first steps of new users, with the packages as they would be published: npm init, venv, cargo new and a
# workflow file (tests/roles). `make test` has built everything; missing parts are built here.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
quick_profile
python/.venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "skipped: the SDKs need Python 3.11 or later"; exit; }
out=$ROOT/target/roles
mkdir -p "$out"
rm -rf "$out"/*.tgz "$out"/*.whl "$out/toolwire" "$out/bundle" target/programs

wheel() { (cd python && VIRTUAL_ENV="$PWD/.venv" .venv/bin/maturin build --release --locked --out "$out"); }
crate() {
  cargo package -p toolwire --locked --offline --allow-dirty --no-verify
  local packed
  packed=$(cargo metadata --no-deps --format-version 1 --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/package
  tar -xzf "$packed/toolwire-$(scripts/version.sh).crate" -C "$out"
  mv "$out/toolwire-$(scripts/version.sh)" "$out/toolwire"
}
# Progress is written to standard error; standard output contains the counts of the tests.
step "program for the roles" "$LOGS/roles-program.log" env TOOLWIRE_BUILD=quick scripts/program.sh
mkdir -p target/roles/texts
step "packages of the program for the roles" "$LOGS/roles-bundle.log" node scripts/bundle.mjs target/programs target/roles/texts "$out/bundle"
step "npm tarball for the roles" "$LOGS/roles-npm.log" node npm/scripts/pack.js "$out"
step "wheel for the roles" "$LOGS/roles-wheel.log" wheel
step "crate for the roles" "$LOGS/roles-crate.log" crate
exec node --test tests/roles/*.test.js
