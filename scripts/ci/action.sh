#!/usr/bin/env bash
# Runs `toolwire check` for action.yml, with the action's inputs as environment variables. Compatible with bash 3.2, the
# version of macOS: no `mapfile`, and expanding an empty array fails there.
set -uo pipefail
source "$(dirname "$0")/install.sh"

fail() { # MESSAGE
  # Escaped, because a line break in a value would begin another command of the runner.
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  echo "::error title=toolwire::${text//$'\n'/%0A}"
  exit 2
}

# Splits a command with quotes into the array `split`. Nothing is expanded or executed.
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
# Lists may have spaces after their commas.
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
option --sarif-file "$SARIF_FILE"
option --url "$URL"
option --servers "$SERVERS"
each --header "$HEADERS"
each --env "$NAMES"
inputs=()
while IFS= read -r line; do
  # `./` keeps file names that begin with `-` from being options.
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
    fail "could not install toolwire $(version) with npm"
  start_npm "$folder"
fi

check() { # FORMAT
  "${program[@]}" check ${arguments[@]+"${arguments[@]}"} --format "$1" ${inputs[@]+"${inputs[@]}"} </dev/null
}
# Writes the file of `sarif`. Refuses symbolic links below the working directory, which the checkout could point
# anywhere. The directories of the path are compared with the working directory, not its spelling, because an absolute
# path may lead there, too.
sarif() {
  local path=$SARIF has_link='' temporary
  # Git's bash on Windows, where `\` is a separator, too.
  case $path in *\\*) path=$(cygpath -u "$path" 2>/dev/null) || path=$SARIF ;; esac
  while [ -n "$path" ]; do
    case $path in */) path=${path%/} && continue ;; esac
    [ ! -L "$path" ] || has_link=1
    [ -z "$has_link" ] || [ ! "$path" -ef . ] || return 1
    case $path in */*) path=${path%/*} ;; *) break ;; esac
  done
  # A relative path begins in the working directory.
  [ -z "$has_link" ] || [ -z "$path" ] || return 1
  [ ! -d "$SARIF" ] && temporary=$(mktemp "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/toolwire.XXXXXX") || return 1
  check sarif 2>/dev/null >"$temporary"
  [ -s "$temporary" ] && chmod 644 "$temporary" && mv -f "$temporary" "$SARIF" 2>/dev/null && return
  rm -f "$temporary"
  return 1
}
check github
code=$?
# The first run has already written standard error; a file that cannot be written fails the step.
if [ -n "$SARIF" ]; then
  if ! sarif && [ "$code" = 0 ]; then
    fail "expected a writable file in \`sarif\`, found one that is not: $SARIF"
  fi
fi
if [ "$SUMMARY" = true ]; then check markdown 2>/dev/null >>"$GITHUB_STEP_SUMMARY" || true; fi
exit "$code"
