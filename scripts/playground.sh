#!/usr/bin/env bash
# Sets up, builds and serves the playground. `playground.sh build` only builds npm/playground/dist, static files for any
# host and any path.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

folder=npm/playground
if [ "${1:-}" != build ]; then
  scripts/setup.sh
  scripts/build.sh npm
fi
scripts/npm-folder.sh $folder

# The command line, which the package does not contain.
command_line() {
  quick_profile
  RUSTUP_TOOLCHAIN=$(scripts/wasm-toolchain.sh) node npm/scripts/wasm.js command
}
step "build the command line for the playground" "$LOGS/build-command.log" command_line

# The playground uses the files that `npm publish` would publish, not those of this checkout.
packed=$(find npm/package.json npm/dist -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | sha256sum | cut -d' ' -f1)
unpack() {
  local scratch installed=$folder/node_modules/toolwire
  scratch=$(mktemp -d)
  node npm/scripts/pack.js "$scratch" >&2
  rm -rf "$installed" && mkdir "$installed"
  tar -xzf "$scratch"/toolwire-*.tgz -C "$installed" --strip-components=1
  rm -rf "$scratch"
  echo "$packed" >"$installed/.packed"
}
fresh $folder/node_modules/toolwire/.packed "$packed" || step "pack npm for the playground" "$LOGS/playground-pack.log" unpack

stamp=$folder/dist/.made-from
key="$packed $(cat bindings-wasm/pkg/command/made-from) $(hash_of $folder/src $folder/index.html $folder/vite.config.js $folder/service-worker.js $folder/package-lock.json)"
if ! fresh $stamp "$key"; then
  step "build the playground" "$LOGS/playground-build.log" npm run --prefix $folder build
  echo "$key" >$stamp
fi
[ "${1:-}" = build ] && exit
say "serving the playground; press Ctrl-C to stop"
exec npm run --silent --prefix $folder preview
