#!/usr/bin/env bash
# test.sh tests|lint|packages|check: runs every test in every language; formats and lints; packages, other compilers, advisories and
# reproducibility; or all of them. Prints one line with the totals at the end. Everything runs even if something failed before; only a failing
# set-up or build ends the run at once.
set -uo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
what=${1:-}
case $what in tests | lint | packages | check) ;; *) die "expected \`tests\`, \`lint\`, \`packages\` or \`check\`, found \`$what\`" ;; esac
runs() { [ "$what" = check ] || [ "$what" = "$1" ]; } # PART

# The results, one in each line: "check PASSED FAILED" or "LABEL PASSED FAILED NOTE". A file, because two lanes write
# it.
results=$LOGS/results
: >"$results"
count() { # LABEL PASSED FAILED [NOTE]
  printf '%s %s %s %s\n' "$1" "$2" "$3" "${4:-}" >>"$results"
}

check() { # LABEL COMMAND...
  local label=$1
  shift
  if step "$label" "$LOGS/${label//[^a-zA-Z0-9_]/-}.log" "$@"; then count check 1 0; else count check 0 1; fi
}

# Parses the last lines of the runners to "PASSED FAILED SKIPPED"; prints nothing if there are none.
rust_counts() { # of libtest; it cannot report a skipped test, so ours print a line "skipped: ..."
  awk '/^test result: / { for (i = 2; i <= NF; i++) if ($i == "passed;") p += $(i-1); else if ($i == "failed;") f += $(i-1); else if ($i == "ignored;") s += $(i-1) }
    /^skipped: / { p--; s++ }
    END { if (NR) print p+0, f+0, s+0 }'
}
node_counts() { # of node:test, for example "# pass 12"
  awk '$1 ~ /^(#|ℹ)$/ && $2 ~ /^(pass|fail|skipped)$/ && NF == 3 { n[$2] += $3; seen = 1 } END { if (seen) print n["pass"]+0, n["fail"]+0, n["skipped"]+0 }'
}
python_counts() { # of pytest, for example "1 failed, 11 passed, 2 skipped in 0.12s"
  awk '/ in [0-9.]+s/ && /(passed|failed|error)/ {
    for (i = 2; i <= NF; i++) { word = $i; sub(/,$/, "", word)
      if (word == "passed") p = $(i-1); else if (word == "failed" || word ~ /^errors?$/) f += $(i-1); else if (word == "skipped") s = $(i-1) }
    print p+0, f+0, s+0; exit }'
}

suite() { # LABEL COUNTS COMMAND...
  local label=$1 counts=$2 log=$LOGS/test-$1.log status=0 p f s
  shift 2
  # A test that hangs fails with a log, instead of being cancelled by CI.
  step "test $label" "$log" timeout 1200 "$@" || status=$?
  read -r p f s < <("$counts" <"$log")
  p=${p:-0} f=${f:-0} s=${s:-0}
  # The exit status is decisive. If it contradicts the runner's own count, or if there is no count, something failed
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
if runs tests; then scripts/chromium.sh; fi

cargo_lints() {
  check "clippy" cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
  check "clippy on the plugin" env CARGO_TARGET_DIR=target/cliproxyapi cargo clippy --all-targets --locked --manifest-path examples/cliproxyapi/Cargo.toml -- -D warnings
  if rustup target list --installed | grep -qx wasm32-unknown-unknown; then
    check "clippy for wasm32" cargo clippy -p toolwire-wasm --locked --target wasm32-unknown-unknown -- -D warnings
  else
    # Debian's compiler, which builds the WebAssembly here, has no clippy. The line above has linted the crate for the
    # host.
    say "clippy for wasm32: not possible here, rustup has no library for that target; linted for this machine only"
  fi
  # rustfmt does not wrap comments, so the length of rows is a test.
  if [ "$what" = lint ]; then check "files and layers" cargo test -p toolwire --test architecture --locked; fi
  check "rustdoc" env RUSTDOCFLAGS="-D warnings" cargo doc -p toolwire --all-features --no-deps --locked
  # The documentation of the command line and the bindings is read only within this repository, so it may link private
  # items.
  check "rustdoc of the bindings" env RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc -p toolwire-command -p toolwire-wasm -p toolwire-py --no-deps --document-private-items --locked
}
other_lints() {
  check "rustfmt" cargo fmt --all --check
  check "rustfmt of the plugin" cargo fmt --check --manifest-path examples/cliproxyapi/Cargo.toml
  check "lint npm" npm run --silent --prefix npm lint
  check "types of the playground" npm run --silent --prefix npm/playground types
  check "lint python" python/dev lint
  check "lint demo and scripts" npm/node_modules/.bin/biome check --config-path npm demo scripts docs/site tests/roles tests/clients/*.js
  check "ruff on the demo" python/.venv/bin/ruff check --config python/pyproject.toml demo
  check "ruff format on the demo" python/.venv/bin/ruff format --check --config python/pyproject.toml demo
  check "syntax of scripts" bash -c 'for script; do bash -n "$script" || exit; done' - scripts/*.sh .ci/run python/dev
  check "lint workflows" scripts/workflows.sh
}
packages_and_compilers() {
  check "core without std" scripts/no-std.sh
  check "oldest Rust" scripts/msrv.sh
  # The part of `cargo publish` before the upload, without the network and with uncommitted changes. The roles suite
  # shows that the crate compiles, because its Rust program depends on the packed crate.
  check "crate" cargo package -p toolwire --locked --offline --allow-dirty --no-verify
  check "one version" scripts/version.sh
  check "supply chain" node scripts/supply-chain.mjs
  check "crates" scripts/deny.sh install
  # A new dependency of the crate makes this lock stale, and the benchmark of peers would be the first to fail.
  check "lock of the Rust peers" cargo update --quiet --workspace --locked --manifest-path core/benches/peers/Cargo.toml
  check "list of unsafe code" node scripts/unsafe.mjs
  check "same WebAssembly twice" scripts/reproducible.sh fast
}
# Runs cargo's lints, and for `check` compiles the tests while the other lane runs its steps.
cargo_lane() {
  if runs lint; then cargo_lints; fi
  if [ "$what" = check ]; then compile_tests; fi
}
# The test suites find the tests compiled, and report compile errors.
compile_tests() {
  attempt "compile the tests" "$LOGS/compile-tests.log" cargo test --workspace --locked --no-run || true
}

node_and_sdk_suites() {
  # The demo fails if the languages disagree.
  check "demo" node demo/demo.mjs
  suite node node_counts npm test --silent --prefix npm
  suite packages node_counts npm run --silent --prefix npm test:packaging
  suite playground node_counts npm test --silent --prefix npm/playground
  # Checks every link and anchor, and the playground in the site.
  if scripts/docs.sh build; then suite docs node_counts npm test --silent --prefix docs/site; else count docs 0 1 "the site cannot be built"; fi
  suite npm-sdks node_counts scripts/examples.sh npm
  check "README examples" scripts/readme.sh
  if has_python_311; then
    suite pypi-sdks python_counts scripts/examples.sh python
  else
    say "test pypi-sdks, test roles: not possible here, today's SDKs need Python 3.11 or later"
  fi
}
cargo_and_python_suites() {
  if [ "$what" = tests ]; then compile_tests; fi
  suite rust rust_counts cargo test --workspace --locked --no-fail-fast -- --show-output
  suite cliproxyapi rust_counts scripts/examples.sh cliproxyapi
  suite python python_counts bash -c 'cd python && exec .venv/bin/python -m pytest'
}
has_python_311() { python/.venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; }

# In two lanes, because most of these steps use one core, and cargo locks its target folder.
if [ "$what" != tests ]; then
  heading "formats, lints and packages"
  alongside cargo_lane
  if runs lint; then other_lints; fi
  if runs packages; then packages_and_compilers; fi
  together || count check 0 1
fi

if runs tests; then
  heading "tests"
  alongside node_and_sdk_suites
  cargo_and_python_suites
  together || count tests 0 1 "a lane ended early"
  # With the SDKs that the suites of examples have installed.
  if has_python_311; then suite roles node_counts scripts/roles.sh; fi
fi

heading "summary"
awk '
  { passed = $2; failed = $3; note = $0; sub(/^[^ ]+ [^ ]+ [^ ]+ ?/, "", note); all_passed += passed; all_failed += failed }
  $1 == "check" { checks += passed; broken += failed; next }
  { printf "  %-10s %5d passed, %d failed%s\n", $1, passed, failed, note == "" ? "" : "  " note > "/dev/stderr" }
  END {
    printf "  %-10s %5d passed, %d failed\n", "checks", checks, broken > "/dev/stderr"
    printf "%d passed, %d failed\n", all_passed, all_failed
    exit all_failed > 0
  }' "$results"
