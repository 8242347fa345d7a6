#!/usr/bin/env bash
# What action.yml runs: `toolwire check` with the action's inputs, which come as variables.
set -uo pipefail

# A command as one writes it, quotes included, in words. Nothing of it is expanded or run.
words() { xargs -n 1 printf '%s\n' <<<"$1"; }

mapfile -t program < <(words "$TOOLWIRE")
arguments=()
option() { # NAME VALUE
  [ -z "$2" ] || arguments+=("$1=$2")
}
each() { # NAME LINES
  local line
  while IFS= read -r line; do option "$1" "$line"; done <<<"$2"
}
option --timeout "$TIMEOUT"
option --profile "$PROFILE"
option --dialect "$DIALECTS"
option --exclude "$EXCLUDE"
option --fail-on "$FAIL_ON"
option --config "$CONFIG"
option --baseline "$BASELINE"
option --url "$URL"
each --header "$HEADERS"
each --env "$NAMES"
inputs=()
while IFS= read -r line; do [ -z "$line" ] || inputs+=("$line"); done <<<"$FILES"
if [ -n "$SERVER" ]; then
  mapfile -t server < <(words "$SERVER")
  inputs+=(-- "${server[@]}")
elif [ -z "$URL" ] && [ ${#inputs[@]} = 0 ]; then
  echo '::error title=toolwire::expected one of the inputs `files`, `server` and `url`, found none'
  exit 2
fi

check() { # FORMAT
  "${program[@]}" check "${arguments[@]}" --format "$1" "${inputs[@]}" </dev/null
}
# What they would say on standard error is said once, below; a file that cannot be written fails the step.
if [ -n "$SARIF" ]; then check sarif 2>/dev/null >"$SARIF" || [ -s "$SARIF" ] || exit 2; fi
if [ "$SUMMARY" = true ]; then check markdown 2>/dev/null >>"$GITHUB_STEP_SUMMARY" || true; fi
check github
