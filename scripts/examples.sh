#!/usr/bin/env bash
# examples.sh npm|python|cliproxyapi|judges [ARGUMENTS OF PYTEST]: installs the SDKs of the examples if their pins changed, and runs every
# example against a fake of its API, without network access; judges the requests of generated conversations with the types of the SDKs
# (python/examples/judges); builds the plugin of CLIProxyAPI, and calls it as CLIProxyAPI would.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

npm() {
  local folder=npm/examples
  scripts/npm-folder.sh $folder
  # A link, because for a dependency in the manifest npm would install the development tools of npm/ a second time.
  ln -sfn ../.. $folder/node_modules/toolwire
  command npm test --silent --prefix $folder
}

# Goes to the folder of the examples in Python, with their SDKs.
python_sdks() {
  local folder=python/examples stamp key
  python/.venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "skipped: the SDKs need Python 3.11 or later"; exit; }
  stamp=$folder/.venv/pins
  key="$(sha256sum $folder/requirements.txt) $(python/.venv/bin/python --version)"
  if ! fresh "$stamp" "$key"; then
    python/.venv/bin/python -m venv "$folder/.venv"
    step "SDKs for the examples in Python" "$LOGS/python-examples.log" "$folder/.venv/bin/python" -m pip install --quiet --no-compile --no-deps --require-hashes --requirement "$folder/requirements.txt"
    # Like `python/dev`: the sources, with the extension module in them.
    echo "$ROOT/python/src" >"$("$folder/.venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/toolwire-source.pth"
    echo "$key" >"$stamp"
  fi
  cd "$folder"
}

python() {
  python_sdks
  .venv/bin/mypy --no-error-summary
  .venv/bin/python -m pytest
}

judges() {
  python_sdks
  .venv/bin/python -m pytest judges "$@"
}

cliproxyapi() {
  # In the target folder of the repository, which `make clean` removes.
  CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$ROOT/target/cliproxyapi} cargo test --locked --manifest-path examples/cliproxyapi/Cargo.toml
}

case "${1:-}" in
  npm | python | judges | cliproxyapi) "$@" ;;
  *) die "expected \`npm\`, \`python\`, \`judges\` or \`cliproxyapi\`, found \`${1:-}\`" ;;
esac
