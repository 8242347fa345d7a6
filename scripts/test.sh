#!/usr/bin/env bash
# test.sh tests|lint|packages|check: every test in every language; formats and lints; packages, other compilers, advisories and reproducibility;
# or all of them. The last line sums up. Everything runs even if something before it failed; only a failing set-up or build ends
# the run at once.
set -uo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
what=${1:-}
case $what in tests | lint | packages | check) ;; *) die "expected \`tests\`, \`lint\`, \`packages\` or \`check\`, found \`$what\`" ;; esac
runs() { [ "$what" = check ] || [ "$what" = "$1" ]; } # PART

# What came out, a line each: "check PASSED FAILED" or "LABEL PASSED FAILED NOTE". A file, because two lanes write it.
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
if runs tests; then scripts/chromium.sh; fi

cargo_lints() {
  check "clippy" cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
  if rustup target list --installed | grep -qx wasm32-unknown-unknown; then
    check "clippy for wasm32" cargo clippy -p toolwire-wasm --locked --target wasm32-unknown-unknown -- -D warnings
  else
    # Debian's compiler, which builds the wasm here, has no clippy. The line above has linted the crate for this machine.
    say "clippy for wasm32: not possible here, rustup has no library for that target; linted for this machine only"
  fi
  check "rustdoc" env RUSTDOCFLAGS="-D warnings" cargo doc -p toolwire --all-features --no-deps --locked
  # The command line and the bindings have readers only inside this repository.
  check "rustdoc of the bindings" env RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc -p toolwire-command -p toolwire-wasm -p toolwire-py --no-deps --document-private-items --locked
}
other_lints() {
  check "rustfmt" cargo fmt --all --check
  check "lint npm" npm run --silent --prefix npm lint
  check "types of the playground" npm run --silent --prefix npm/playground types
  check "lint python" python/dev lint
  check "lint demo and scripts" npm/node_modules/.bin/biome check --config-path npm demo scripts docs/site tests/roles
  check "ruff on the demo" python/.venv/bin/ruff check --config python/pyproject.toml demo
  check "ruff format on the demo" python/.venv/bin/ruff format --check --config python/pyproject.toml demo
  check "syntax of scripts" bash -c 'for script; do bash -n "$script" || exit; done' - scripts/*.sh .ci/run python/dev
  check "lint workflows" scripts/workflows.sh
}
packages_and_compilers() {
  check "core without std" scripts/no-std.sh
  check "oldest Rust" scripts/msrv.sh
  # What `cargo publish` does before it uploads, without the network; tests run on unfinished work, too. That it compiles, the suite of roles
  # shows: its program in Rust depends on the packed crate.
  check "crate" cargo package -p toolwire --locked --offline --allow-dirty --no-verify
  check "one version" scripts/version.sh
  check "supply chain" node scripts/supply-chain.mjs
  check "crates" scripts/deny.sh install
  # Nothing else notices when the crate has a dependency more: the benchmark of peers would stop at it.
  check "lock of the Rust peers" cargo update --quiet --workspace --locked --manifest-path core/benches/peers/Cargo.toml
  check "list of unsafe code" node scripts/unsafe.mjs
  check "same WebAssembly twice" scripts/reproducible.sh fast
}
# The lints of cargo, and in `check` the compilation of the tests while the other lane is at its own.
cargo_lane() {
  if runs lint; then cargo_lints; fi
  if [ "$what" = check ]; then compile_tests; fi
}
# The suite finds them compiled, and says what does not compile.
compile_tests() {
  attempt "compile the tests" "$LOGS/compile-tests.log" cargo test --workspace --locked --no-run || true
}

node_and_sdk_suites() {
  # The front door: it fails where the languages disagree.
  check "demo" node demo/demo.mjs
  suite node node_counts npm test --silent --prefix npm
  suite packages node_counts npm run --silent --prefix npm test:packaging
  suite playground node_counts npm test --silent --prefix npm/playground
  # Every link, every anchor, and the playground in it.
  if scripts/docs.sh build; then suite docs node_counts npm test --silent --prefix docs/site; else count docs 0 1 "the site cannot be built"; fi
  suite npm-sdks node_counts scripts/examples.sh npm
  check "README examples" scripts/readme.sh
  if has_python_311; then
    suite pypi-sdks python_counts scripts/examples.sh python
  else
    say "test pypi-sdks, test roles: not possible here, today's SDKs are for Python 3.11 and later"
  fi
}
cargo_and_python_suites() {
  if [ "$what" = tests ]; then compile_tests; fi
  suite rust rust_counts cargo test --workspace --locked --no-fail-fast -- --show-output
  suite python python_counts bash -c 'cd python && exec .venv/bin/python -m pytest'
}
has_python_311() { python/.venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; }

# In two lanes, since most of what runs here keeps one core busy, and cargo does one thing at a time in its folder.
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
