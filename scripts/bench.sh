#!/usr/bin/env bash
# bench.sh languages [TOOLS]: measures microseconds per real tool in each language, relative to the language's own parsing and printing.
# bench.sh figures [TOOLS]: measures all three languages in one run, and writes docs/performance.md with its plots. Nothing else should run at
# the same time.
# bench.sh peers [TOOLS]: compares toolwire with other packages, in each language: with those that adapt tool schemas to an API, on real tools
# and in an agent's session; and with those that validate arguments, on calls to the same tools and on recorded calls. The peers are installed
# in their own folders (some minutes the first time).
#
# The tools: the given file (JSON lines with `inputSchema`), or the reference data next to the checkout, or the demo's tools.
set -euo pipefail
start=$PWD
source "$(dirname "$0")/step.sh"
cd "$ROOT"

case ${1:-} in languages | figures | peers) ;; *) die "expected \`languages\`, \`figures\` or \`peers\`, found \`${1:-}\`" ;; esac
scripts/setup.sh
scripts/build.sh
if [ -n "${2:-}" ]; then
  data=$(cd "$start" && realpath -e "$2" 2>/dev/null) || die "expected a file of tools, one JSON object per line, found none at $2"
elif [ -f ../shared/data/mcp_tools.jsonl ]; then
  data=$(realpath ../shared/data/mcp_tools.jsonl)
else
  data=$ROOT/target/demo-tools.jsonl
  node demo/tools.mjs >"$data"
fi

languages() {
  step "build Rust benchmarks" "$LOGS/build-bench.log" cargo build --release --locked -p toolwire --example bench --example requests

  heading "tools: $data"
  echo
  cargo run --quiet --release --locked -p toolwire --example bench -- "$data"
  echo
  npm run --silent --prefix npm bench -- "$data"
  echo
  python/dev bench "$data"

  heading "requests of 10 MB"
  echo
  cargo run --quiet --release --locked -p toolwire --example requests
  echo
  npm run --silent --prefix npm bench:requests
  echo
  python/.venv/bin/python python/bench/requests.py
}

figures() {
  step "build Rust measurements" "$LOGS/build-figures.log" cargo build --release --locked -p toolwire --example figures --example growth
  step "build the program" "$LOGS/build-program.log" cargo build --release --locked -p toolwire-cli --bin toolwire --example program
  heading "tools: $data"
  node scripts/figures.mjs "$data"
}

# peers_in FOLDER KEYFILE COMMAND...: installs the packages that the key file pins, if it has changed.
peers_in() {
  local folder=$1 pins=$2 stamp=$1/.installed
  shift 2
  fresh "$stamp" "$(sha256sum "$pins")" && return
  step "peers in $folder" "$LOGS/peers-${folder//\//-}.log" "$@" || die "installing the peers failed in $folder"
  sha256sum "$pins" >"$stamp"
}
python_peers() { python3 -m venv python/bench/peers/.venv && python/bench/peers/.venv/bin/pip install --quiet --require-hashes --no-deps --requirement python/bench/peers/requirements.txt; }

peers() {
  # `--ignore-scripts`: the measured functions need no install scripts.
  peers_in npm/bench/peers npm/bench/peers/package-lock.json npm ci --prefix npm/bench/peers --no-audit --no-fund --ignore-scripts
  peers_in python/bench/peers python/bench/peers/requirements.txt python_peers
  step "build Rust peers" "$LOGS/build-peers.log" cargo build --release --locked --manifest-path core/benches/peers/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/peers"

  # in_each RUST SCRIPT ARGUMENT...: runs one benchmark in three languages; without RUST, in two.
  in_each() {
    local rust=$1 script=$2
    shift 2
    [ -z "$rust" ] || { echo && "${CARGO_TARGET_DIR:-target}/peers/release/$rust" "$@"; }
    echo
    node --expose-gc "npm/bench/peers/$script.js" "$@"
    echo
    PYTHONPATH=python/src python/bench/peers/.venv/bin/python "python/bench/peers/$script.py" "$@"
  }

  heading "tools: $data, at commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
  in_each toolwire-peers run "$data"

  heading "a session"
  node demo/tools.mjs >"$ROOT/target/demo-tools.jsonl"
  in_each session session "$ROOT/target/demo-tools.jsonl"

  heading "calls"
  calls=$ROOT/target/bench-calls.jsonl
  node npm/bench/peers/calls.js "$data" tests/sample ../shared/data >"$calls"
  in_each arguments arguments "$calls"

  heading "damaged calls"
  in_each "" repairs
}

"$1"
