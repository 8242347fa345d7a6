#!/usr/bin/env bash
# Formats, lints and every test in every language, and one line at the end that sums them. `lint` leaves the tests out.
# Everything runs even if something before it failed; only a failing set-up or build ends the run at once.
set -uo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
only=${1:-all}

passed=0 failed=0
summary=()
count() { # LABEL PASSED FAILED
  passed=$((passed + $2)) failed=$((failed + $3))
  summary+=("$(printf '%-10s %5d passed, %d failed%s' "$1" "$2" "$3" "${4:+  $4}")")
}

checks_passed=0 checks_failed=0
check() { # LABEL COMMAND...
  local label=$1
  shift
  if step "$label" "$LOGS/${label//[^a-zA-Z0-9_]/-}.log" "$@"; then checks_passed=$((checks_passed + 1)); else checks_failed=$((checks_failed + 1)); fi
}

# From the closing lines of the runners: "PASSED FAILED SKIPPED", nothing if there is none.
rust_counts() { # libtest's; it has no word for a test that finds nothing to do, so ours print a line "skipped: ..."
  awk '/^test result: / { for (i = 2; i <= NF; i++) if ($i == "passed;") p += $(i-1); else if ($i == "failed;") f += $(i-1); else if ($i == "ignored;") s += $(i-1) }
    /^skipped: / { p--; s++ }
    END { if (NR) print p+0, f+0, s+0 }'
}
node_counts() { # node:test's, for instance "# pass 12"
  awk '$1 ~ /^(#|ℹ)$/ && $2 ~ /^(pass|fail|skipped)$/ && NF == 3 { n[$2] += $3; seen = 1 } END { if (seen) print n["pass"]+0, n["fail"]+0, n["skipped"]+0 }'
}
python_counts() { # pytest's, for instance "1 failed, 11 passed, 2 skipped in 0.12s"
  awk '/ in [0-9.]+s/ && /(passed|failed|error)/ {
    for (i = 2; i <= NF; i++) { word = $i; sub(/,$/, "", word)
      if (word == "passed") p = $(i-1); else if (word == "failed" || word ~ /^errors?$/) f += $(i-1); else if (word == "skipped") s = $(i-1) }
    print p+0, f+0, s+0; exit }'
}

suite() { # LABEL COUNTS COMMAND...
  local label=$1 counts=$2 log=$LOGS/test-$1.log status=0 p f s
  shift 2
  # A test that hangs is a failure to be read today, not a CI job that somebody cancels.
  step "test $label" "$log" timeout 1200 "$@" || status=$?
  read -r p f s < <("$counts" <"$log")
  p=${p:-0} f=${f:-0} s=${s:-0}
  # The exit status decides. Where it and the runner's own count disagree, or there is no count, something went wrong
  # that no test reported.
  if [ "$status" != 0 ] && [ "$f" = 0 ]; then f=1; fi
  if [ "$status" = 0 ] && { [ "$p" = 0 ] || [ "$f" != 0 ]; }; then
    say "test $label: expected at least one passed test and no failed one in $log, found $p and $f"
    f=$((f > 0 ? f : 1))
  fi
  count "$label" "$p" "$f" "$([ "$s" = 0 ] || echo "$s skipped, named in ${log#"$ROOT"/}")"
}

heading "set-up and builds"
scripts/setup.sh && scripts/packaging-tools.sh && scripts/build.sh && scripts/playground.sh build || exit 1
[ "$only" = all ] && scripts/chromium.sh

heading "formats and lints"
check "rustfmt" cargo fmt --all --check
check "clippy" cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
if rustup target list --installed | grep -qx wasm32-unknown-unknown; then
  check "clippy for wasm32" cargo clippy -p toolwire-wasm --locked --target wasm32-unknown-unknown -- -D warnings
else
  # Debian's compiler, which builds the wasm here, has no clippy. The line above has linted the crate for this machine.
  say "clippy for wasm32: not possible here, rustup has no library for that target; linted for this machine only"
fi
check "core without std" scripts/no-std.sh
check "oldest Rust" scripts/msrv.sh
check "rustdoc" env RUSTDOCFLAGS="-D warnings" cargo doc -p toolwire --all-features --no-deps --locked
# What `cargo publish` does before it uploads, without the network; tests run on unfinished work, too.
check "crate" cargo package -p toolwire --locked --offline --allow-dirty
# The command line and the bindings have readers only inside this repository.
check "rustdoc of the bindings" env RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc -p toolwire-command -p toolwire-wasm -p toolwire-py --no-deps --document-private-items --locked
check "lint npm" npm run --silent --prefix npm lint
check "types of the playground" npm run --silent --prefix npm/playground types
check "lint python" python/dev lint
check "syntax of scripts" bash -c 'for script; do bash -n "$script" || exit; done' - scripts/*.sh .ci/run python/dev
check "one version" scripts/version.sh
check "lint workflows" scripts/workflows.sh
check "supply chain" node scripts/supply-chain.mjs
check "crates" scripts/deny.sh install
# Nothing else notices when the crate has a dependency more: the benchmark of peers would stop at it.
check "lock of the Rust peers" cargo update --quiet --workspace --locked --manifest-path core/benches/peers/Cargo.toml
check "list of unsafe code" node scripts/unsafe.mjs
check "same WebAssembly twice" scripts/reproducible.sh fast
check "README examples" scripts/readme.sh
# The front door: it fails where the languages disagree.
check "demo" node demo/demo.mjs
check "lint demo and scripts" npm/node_modules/.bin/biome check --config-path npm demo scripts docs/site tests/roles
check "ruff on the demo" python/.venv/bin/ruff check --config python/pyproject.toml demo
check "ruff format on the demo" python/.venv/bin/ruff format --check --config python/pyproject.toml demo

if [ "$only" = all ]; then
  heading "tests"
  suite rust rust_counts cargo test --workspace --locked --no-fail-fast -- --show-output
  suite node node_counts npm test --silent --prefix npm
  suite packages node_counts npm run --silent --prefix npm test:packaging
  suite playground node_counts npm test --silent --prefix npm/playground
  # Every link, every anchor, and the playground in it.
  if scripts/docs.sh build; then suite docs node_counts npm test --silent --prefix docs/site; else count docs 0 1 "the site cannot be built"; fi
  suite npm-sdks node_counts scripts/examples.sh npm
  suite python python_counts bash -c 'cd python && exec .venv/bin/python -m pytest'
  if python/.venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    suite pypi-sdks python_counts scripts/examples.sh python
    suite roles node_counts scripts/roles.sh
  else
    say "test pypi-sdks: not possible here, today's SDKs are for Python 3.11 and later"
  fi
fi

heading "summary"
count checks "$checks_passed" "$checks_failed"
printf '  %s\n' "${summary[@]}" >&2
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
