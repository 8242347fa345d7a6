#!/usr/bin/env bash
# affected.sh [BASE]: prints the suites of `make test` that the changes since BASE (origin/main) can break, with uncommitted changes and new
# files. A path without a row below selects every suite.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

base=${1:-origin/main}
git rev-parse --verify --quiet "$base^{commit}" >/dev/null || die "expected a commit or a branch as BASE, found \`$base\`"
every=$(sed -n 's/^TESTS = //p' Makefile)

suites() { # PATH
  case $1 in
    # The tests of npm and Python compare their results with this example, which contains some of the core's tests.
    core/examples/compare/* | core/tests/it/native/* | core/tests/it/routing/*) echo test-rust test-node test-python ;;
    # The tests of npm run all benchmarks.
    core/benches/* | core/examples/* | cli/examples/*) echo test-rust test-node ;;
    core/tests/* | core/fuzz/* | core/http/* | command/tests/* | cli/tests/* | tests/http/* | xtask/*) echo test-rust ;;
    tests/proxy/* | tests/listen/* | tests/relay/*) echo test-rust ;;
    # These suites start the program.
    cli/* | tests/program.js) echo test-rust test-node test-playground test-packages test-npm-sdks test-demo test-roles ;;
    packaging/* | scripts/bundle.mjs | scripts/package.sh) echo test-packages test-roles test-python ;;
    # test-docs, test-packages and test-roles run the same code once more, in its packages.
    core/* | bindings-* | tests/sample/*) echo test-rust test-node test-python test-playground test-cliproxyapi test-npm-sdks test-pypi-sdks test-conversations test-readme test-demo ;;
    command/*) echo test-rust test-node test-playground test-npm-sdks test-demo test-roles ;;
    # These suites parse the output of `check --format` in the cases.
    tests/command/*) echo test-rust test-node test-python test-playground ;;
    tests/clients/* | tests/sdks/*) echo test-npm-sdks ;;
    contrib/*.md) echo test-docs test-readme test-rust ;;
    contrib/*) echo test-npm-sdks ;;
    tests/roles/*) echo test-roles ;;
    tests/fixtures/*) echo test-rust test-node test-python test-playground ;;
    tests/*) echo test-rust test-node test-python ;;
    npm/playground/*) echo test-playground test-docs ;;
    npm/examples/*) echo test-npm-sdks test-roles ;;
    npm/packaging/*) echo test-packages ;;
    # The browser that other suites start, too.
    npm/test/unpinned.js) echo test-node test-packages test-playground ;;
    npm/test/* | npm/bench/* | action.yml | .pre-commit-hooks.yaml | scripts/ci/*) echo test-node ;;
    npm/*) echo test-node test-packages test-playground test-npm-sdks test-roles test-docs ;;
    python/examples/judges/*) echo test-conversations ;;
    python/examples/*) echo test-pypi-sdks test-roles ;;
    python/bench/*) echo test-node ;;
    python/tests/*) echo test-python ;;
    python/*) echo test-python test-pypi-sdks test-conversations test-roles ;;
    examples/cliproxyapi/*) echo test-cliproxyapi ;;
    demo/*) echo test-demo test-rust ;;
    docs/site/*) echo test-docs ;;
    # These suites run the files and commands of the page.
    docs/typescript.md) echo test-docs test-readme test-rust test-packages test-playground ;;
    docs/clients/* | docs/deploy/*) echo test-docs test-readme test-rust test-npm-sdks ;;
    docs/sdks/* | docs/servers/* | docs/deferred-loading.md | README.md) echo test-docs test-readme test-rust test-npm-sdks test-pypi-sdks ;;
    # Tests in Rust compare the pages with the tables and the options.
    docs/* | *.md) echo test-docs test-readme test-rust ;;
    *) echo "$every" ;;
  esac
}

# Without renames, a moved file has two paths.
changed=$(git diff --name-only --no-renames "$(git merge-base "$base" HEAD)" && git ls-files --others --exclude-standard)
wanted=" $(while read -r path; do [ -z "$path" ] || suites "$path"; done <<<"$changed" | tr ' ' '\n' | sort -u | tr '\n' ' ')"
# In the order of the Makefile: longest first.
for suite in $every; do case $wanted in *" $suite "*) printf '%s ' "$suite" ;; esac; done
