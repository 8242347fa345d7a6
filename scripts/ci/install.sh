# For action.sh and hook.sh, which define `fail`: installs toolwire into a folder of the runner's, and names the program in the array
# `program`.
#
# Nothing in the checkout affects the installation: npm and node are looked up in that folder, because shims of version managers follow
# files of the working folder (`.tool-versions`). npm reads its `.npmrc` there (there is none), takes what the lock file beside this one lists, by its hashes, and runs no script of a package. toolwire's own entry is an exact version without a hash, because
# a package is packed after the commit that it is made of. The registry is the runner's: its own `.npmrc` and variables count.

CI_FOLDER=$(CDPATH= cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

version() { # the one that is part of this repository
  sed -n 's/^ *"toolwire": "\([^"]*\)".*/\1/p' "$CI_FOLDER/package.json"
}

install_npm() { # FOLDER, which is there and empty
  cp "$CI_FOLDER/package.json" "$CI_FOLDER/package-lock.json" "$1/" &&
    (cd "$1" && npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >&2)
}

install_uv() { # FOLDER, which is there and empty
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
  # Isolated: neither the folder that it runs in nor variables say where modules are.
  program=("$python" -I -m toolwire)
}
