#!/usr/bin/env bash
# Checks everything in a release that needs no key: versions, workflows, all packages, the registries' validation of
# them, and a build of the sdist with only pip and Rust. With a tag (`release-check.sh v1.2.3`), it is as strict as for
# a release. It needs network access to the registries: for the build backend, and for two registries' checks of the
# packages.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

if [ $# -gt 0 ]; then
  export TOOLWIRE_STRICT=1 RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN:-$(release_compiler)}
fi
version=$(scripts/version.sh "$@")
scripts/setup.sh
scripts/setup.sh packaging
make --no-print-directory lint-workflows
scripts/package.sh
packages=$ROOT/target/packages
step "the documented sizes" "$LOGS/sizes.log" npm run --silent --prefix npm sizes -- --check
step "the age of the figures" "$LOGS/age-of-figures.log" node scripts/figures.mjs age
step "dry run of cargo publish" "$LOGS/publish-crate.log" cargo publish -p toolwire -p toolwire-http -p toolwire-command -p toolwire-cli --dry-run --no-verify --locked --allow-dirty
for tarball in "$packages"/*.tgz; do
  step "dry run of npm publish, $(basename "$tarball")" "$LOGS/publish-npm.log" npm publish --dry-run --ignore-scripts --access public "$tarball"
done
from_sdist() {
  local scratch
  scratch=$(mktemp -d) || return
  python3 -m venv "$scratch/venv" &&
    (cd "$scratch" && env -u VIRTUAL_ENV -u CARGO_TARGET_DIR "$scratch/venv/bin/pip" install --no-binary toolwire "$packages"/toolwire-[0-9]*.tar.gz &&
      "$scratch/venv/bin/python" -I -c 'import toolwire; print(toolwire.__version__, toolwire.sanitize({}, dialect="codex"))') || { rm -rf "$scratch"; return 1; }
  rm -rf "$scratch"
}
step "pip builds the sdist in an empty environment" "$LOGS/publish-sdist.log" from_sdist
heading "version $version is ready to be released, as far as can be told without keys"
