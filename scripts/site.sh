#!/usr/bin/env bash
# site.sh playground [build]: sets up, builds and serves the playground. With `build`, it only builds npm/playground/dist, static files for any
# host and any path.
# site.sh docs [build]: sets up and builds the documentation site, with search and the playground, and serves it. With `build`, it only builds
# docs/site/dist, static files for any host; DOCS_BASE is the path under which the host serves them (default `/`).
# site.sh devtools: serves the built npm package for the console of any page (docs/typescript.md), with the CORS header that this needs.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

playground() {
  local folder stamp packed key
  folder=npm/playground
  scripts/setup.sh npm $folder

  # The command line, which the package does not contain.
  command_line() (
    wasm_profile
    RUSTUP_TOOLCHAIN=$(scripts/rust.sh toolchain) node npm/scripts/wasm.js command
  )
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
}

docs() {
  local stamp key
  playground
  scripts/setup.sh npm docs/site
  stamp=docs/site/dist/.made-from
  key="$(hash_of docs README.md SECURITY.md) $(cat npm/playground/dist/.made-from) ${DOCS_BASE:-/}"
  if ! fresh "$stamp" "$key"; then
    step "build the documentation" "$LOGS/docs.log" npm run --silent --prefix docs/site build || die "could not build the documentation"
    echo "$key" >"$stamp"
  fi
}

what=${1:-}
case $what in playground | docs | devtools) ;; *) die "expected \`playground\`, \`docs\` or \`devtools\`, found \`$what\`" ;; esac
if [ "${2:-}" = build ]; then
  "$what"
  exit
fi
scripts/setup.sh
scripts/build.sh npm
case $what in
  playground) playground; folder=npm/playground ;;
  docs) docs; folder=docs/site ;;
  devtools)
    scripts/setup.sh npm npm/playground
    say "paste into a page's console: const toolwire = await import('http://127.0.0.1:4174/index.js'); press Ctrl-C to stop"
    exec npm run --silent --prefix npm/playground devtools
    ;;
esac
say "serving it; press Ctrl-C to stop"
exec npm run --silent --prefix "$folder" preview
