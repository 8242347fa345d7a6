# Sourced by action.sh and hook.sh, which define `fail`: installs toolwire into a given folder, and sets the array
# `program` to the command that runs it.
#
# Nothing in the checkout affects the installation: npm and node are looked up in that folder, because shims of version
# managers read files of the working directory (`.tool-versions`). npm reads the `.npmrc` of the folder (there is none),
# installs the packages of the lock file next to this script by their hashes, and runs no install scripts. toolwire's
# own entry has an exact version without a hash, because a package is packed after the commit that contains the lock
# file. The registry is that of the runner's own `.npmrc` and variables.

CI_FOLDER=$(CDPATH= cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

version() { # the version of this repository
  sed -n 's/^ *"toolwire": "\([^"]*\)".*/\1/p' "$CI_FOLDER/package.json"
}

install_npm() { # FOLDER, an existing empty one
  cp "$CI_FOLDER/package.json" "$CI_FOLDER/package-lock.json" "$1/" &&
    (cd "$1" && npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >&2)
}

install_uv() { # FOLDER, an existing empty one
  (
    cd "$1" && uv venv --no-config --no-project --quiet "$1/venv" </dev/null >&2 &&
      uv pip install --no-config --quiet --no-deps --only-binary :all: --python "$1/venv" "toolwire==$(version)" </dev/null >&2
  )
}

start_npm() { # FOLDER
  local node
  node=$(cd "$1" && node -p process.execPath) || fail 'expected Node in PATH, found none that runs'
  program=("$node" "$1/node_modules/toolwire/dist/command.js")
}

start_uv() { # FOLDER
  local python=$1/venv/bin/python
  [ -e "$python" ] || python=$1/venv/Scripts/python.exe
  # Isolated: modules are not searched in the working directory or in those of environment variables.
  program=("$python" -I -m toolwire)
}
