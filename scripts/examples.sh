#!/usr/bin/env bash
# Suites with other programs, which they install.
#
# examples.sh npm|python|cliproxyapi|judges [ARGUMENTS OF PYTEST]: installs the SDKs of the examples if their pins changed, and runs every
# example against a fake of its API, without network access; judges the requests of generated conversations with the types of the SDKs
# (python/examples/judges); builds the plugin of CLIProxyAPI, and calls it as CLIProxyAPI would.
# examples.sh clients|agents|faults: runs the clients of tests/clients, which need 1 GB, through `toolwire relay`; or their sessions before
# strict fakes; or with an MCP server that has faults.
# examples.sh sdks [pairs|conformance|inspector]: runs the suites of tests/sdks, or one of them: MCP SDKs as clients and servers through `toolwire
# proxy`, the conformance suite of MCP, and the MCP Inspector.
# examples.sh readme: runs the examples of the README, of the pages named below, and of each function, with the built packages. Their output
# must match the comments in the examples.
# examples.sh roles: tests the first steps of new users, with the packages as they would be published: npm init, venv, cargo new and a workflow
# file (tests/roles). `make test` has built everything; missing parts are built here.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

of_npm() {
  local folder=npm/examples
  scripts/setup.sh npm $folder
  # A link, because for a dependency in the manifest npm would install the development tools of npm/ a second time.
  ln -sfn ../.. $folder/node_modules/toolwire
  npm test --silent --prefix $folder
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

of_python() {
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

clients() { # clients|agents|faults
  scripts/setup.sh
  scripts/build.sh npm
  scripts/build.sh python
  install() {
    local lock=tests/clients/package-lock.json saved=$LOGS/clients-package-lock.json status=0
    cp "$lock" "$saved"
    # `npm ci` is not used, because it refuses the lock file if the registry lacks opencode's packages for other
    # platforms. `npm install` may change the lock file, so the committed one is put back.
    npm install --prefix tests/clients --ignore-scripts --no-audit --no-fund || status=$?
    cp "$saved" "$lock"
    [ "$status" = 0 ] || return "$status"
    node npm/scripts/locked.js tests/clients "$lock" || return
    # Two of the packages install their binary with a script.
    (cd tests/clients && npm rebuild @anthropic-ai/claude-code opencode-ai)
  }
  step "npm ci in tests/clients" "$LOGS/clients-setup.log" install
  case $1 in
    clients) npm test --silent --prefix tests/clients ;;
    *) npm run --silent --prefix tests/clients "$1" ;;
  esac
}

sdks() { # [SUITE]
  scripts/setup.sh
  step "build the program" "$LOGS/build-rust.log" cargo build --locked --workspace --bin toolwire
  scripts/setup.sh npm tests/sdks
  scripts/build.sh npm
  step "build the Rust SDK" "$LOGS/build-rmcp.log" \
    cargo build --locked --manifest-path tests/sdks/rust/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/sdks"
  status=0
  for suite in ${1:-pairs conformance inspector}; do
    case $suite in
      pairs | conformance) npm run --silent --prefix tests/sdks "$suite" || status=1 ;;
      inspector)
        npm run --silent --prefix tests/sdks inspector || status=1
        node --test npm/examples/test/inspector.test.js || status=1
        ;;
      *) die "expected \`pairs\`, \`conformance\` or \`inspector\`, found \`$suite\`" ;;
    esac
  done
  exit $status
}

readme() {
  # In this folder, `toolwire` resolves as for a user of the npm package.
  cd "$ROOT/demo"
  status=0

  # All blocks of a language in a page form one program.
  block() { sed -n "/^\`\`\`$2\$/,/^\`\`\`\$/p" "$1" | sed '/^```/d'; }
  prints_its_comments() { # PAGE LANGUAGE COMMENT-SIGN COMMAND...
    local page=$1 language=$2 sign=$3 expected found
    shift 3
    expected=$(block "$page" "$language" | sed -n "s@^$sign @@p")
    found=$(block "$page" "$language" | "$@" 2>&1) || true
    if [ -z "$expected" ] || [ "$expected" != "$found" ]; then
      printf '%s, %s: the expected output in its comments (<), and what it prints (>):\n' "${page#"$ROOT"/}" "$language"
      diff <(printf '%s\n' "$expected") <(printf '%s\n' "$found") || true
      status=1
    fi
  }

  # The same command as in `scripts/build.sh`, so that the core is not compiled again.
  library=$(cd "$ROOT" && cargo build --workspace --bin toolwire-demo --locked --message-format=json 2>/dev/null |
    sed -n 's/.*"name":"toolwire",.*"filenames":\["\([^"]*\.rlib\)".*/\1/p')

  # Writes each section of a page (`## …`) into a file of a folder: each function has a program of its own.
  sections() { # PAGE FOLDER
    mkdir -p "$2"
    awk -v folder="$2" '/^```/ { inside = !inside }
      !inside && /^## / { name = $0; gsub(/[^A-Za-z]/, "", name); file = folder "/" name ".md" }
      file { print > file }' "$1"
  }

  pages=("$ROOT/README.md")
  for page in python rust deferred-loading adapters mcp-clients concepts/restoring; do pages+=("$ROOT/docs/$page.md"); done
  pieces="$ROOT/target/readme"
  rm -rf "$pieces"
  for page in "$ROOT"/docs/functions/*.md; do
    [ "$(basename "$page")" = README.md ] || sections "$page" "$pieces/$(basename "$page" .md)"
  done
  pages+=("$pieces"/*/*.md)
  for page in "${pages[@]}"; do
    if ! grep -Eq '^```(ts|python|rust)$' "$page"; then
      echo "${page#"$ROOT"/}: expected an example, found none"
      status=1
    fi
    ! grep -q '^```ts$' "$page" || prints_its_comments "$page" ts // node --input-type=module -
    ! grep -q '^```python$' "$page" || prints_its_comments "$page" python '#' "$ROOT/python/.venv/bin/python" -
    ! grep -q '^```rust$' "$page" || rustdoc --edition 2021 --test "$page" --extern "toolwire=$library" -L "dependency=$(dirname "$library")" || status=1
  done
  exit "$status"
}

roles() {
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
  step "program for the roles" "$LOGS/roles-program.log" env TOOLWIRE_BUILD=quick scripts/package.sh compile
  mkdir -p target/roles/texts
  step "packages of the program for the roles" "$LOGS/roles-bundle.log" node scripts/bundle.mjs target/programs target/roles/texts "$out/bundle"
  step "npm tarball for the roles" "$LOGS/roles-npm.log" node npm/scripts/pack.js "$out"
  step "wheel for the roles" "$LOGS/roles-wheel.log" wheel
  step "crate for the roles" "$LOGS/roles-crate.log" crate
  exec node --test tests/roles/*.test.js
}

case "${1:-}" in
  npm | python) "of_$1" ;;
  clients | agents | faults) clients "$1" ;;
  judges | cliproxyapi | sdks | readme | roles) "$@" ;;
  *) die "expected \`npm\`, \`python\`, \`judges\`, \`cliproxyapi\`, \`clients\`, \`agents\`, \`faults\`, \`sdks\`, \`readme\` or \`roles\`, found \`${1:-}\`" ;;
esac
