#!/usr/bin/env bash
# What action.yml runs: `toolwire check` with the action's inputs, which come as variables. It runs in bash 3.2, too, which
# macOS has: no `mapfile`, and an empty array is unset to it.
set -uo pipefail
source "$(dirname "$0")/ci/install.sh"

fail() { # MESSAGE
  # As the runner reads it: a value with a line end would begin another command.
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  echo "::error title=toolwire::${text//$'\n'/%0A}"
  exit 2
}

# A command as one writes it, quotes included, in the array `split`. Nothing of it is expanded or run.
words() { # INPUT VALUE
  local text word
  text=$(xargs -n 1 printf '%s\n' <<<"$2" 2>/dev/null) || fail "expected words in \`$1\`, found quotes that are not closed"
  split=()
  while IFS= read -r word; do split+=("$word"); done <<<"$text"
}

arguments=()
option() { # NAME VALUE
  [ -z "$2" ] || arguments+=("$1=$2")
}
each() { # NAME LINES
  local line
  while IFS= read -r line; do option "$1" "$line"; done <<<"$2"
}
# Lists are written with spaces after their commas, too.
listed() { # NAME VALUE
  option "$1" "${2//[[:space:]]/}"
}
option --timeout "$TIMEOUT"
option --profile "$PROFILE"
listed --dialect "$DIALECTS"
listed --exclude "$EXCLUDE"
option --fail-on "$FAIL_ON"
option --config "$CONFIG"
option --baseline "$BASELINE"
option --url "$URL"
option --servers "$SERVERS"
each --header "$HEADERS"
each --env "$NAMES"
inputs=()
while IFS= read -r line; do
  # File names that begin with `-` are never read as options.
  case $line in -?*) line=./$line ;; esac
  [ -z "$line" ] || inputs+=("$line")
done <<<"$FILES"
if [ -n "$SERVER" ]; then
  words server "$SERVER"
  inputs+=(-- ${split[@]+"${split[@]}"})
elif [ -z "$URL$SERVERS" ] && [ ${#inputs[@]} = 0 ]; then
  fail 'expected one of the inputs `files`, `server`, `servers` and `url`, found none'
fi
if [ -n "$TOOLWIRE" ]; then
  words command "$TOOLWIRE"
  program=(${split[@]+"${split[@]}"})
else
  folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/toolwire.XXXXXX") && install_npm "$folder" ||
    fail "expected to install toolwire $(version) with npm, found that it fails"
  start_npm "$folder"
fi

check() { # FORMAT
  "${program[@]}" check ${arguments[@]+"${arguments[@]}"} --format "$1" ${inputs[@]+"${inputs[@]}"} </dev/null
}
# Writes the file of `sarif`. Refuses links below the working folder, which the checkout could lead anywhere. Is told from the folders that the
# path names, not from its spelling: an absolute one may lead to the working folder in many ways.
sarif() {
  local path=$SARIF has_link='' temporary
  # Git's bash on Windows, where `\` separates folders, too.
  case $path in *\\*) path=$(cygpath -u "$path" 2>/dev/null) || path=$SARIF ;; esac
  while [ -n "$path" ]; do
    case $path in */) path=${path%/} && continue ;; esac
    [ ! -L "$path" ] || has_link=1
    [ -z "$has_link" ] || [ ! "$path" -ef . ] || return 1
    case $path in */*) path=${path%/*} ;; *) break ;; esac
  done
  # A relative path begins in the working folder.
  [ -z "$has_link" ] || [ -z "$path" ] || return 1
  [ ! -d "$SARIF" ] && temporary=$(mktemp "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/toolwire.XXXXXX") || return 1
  check sarif 2>/dev/null >"$temporary"
  [ -s "$temporary" ] && chmod 644 "$temporary" && mv -f "$temporary" "$SARIF" 2>/dev/null && return
  rm -f "$temporary"
  return 1
}
check github
code=$?
# What they would say on standard error is said above; a file that cannot be written fails the step.
if [ -n "$SARIF" ]; then
  if ! sarif && [ "$code" = 0 ]; then
    fail "expected a file that can be written in \`sarif\`, found one that cannot: $SARIF"
  fi
fi
if [ "$SUMMARY" = true ]; then check markdown 2>/dev/null >>"$GITHUB_STEP_SUMMARY" || true; fi
exit "$code"
