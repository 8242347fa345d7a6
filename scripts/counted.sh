#!/usr/bin/env bash
# counted.sh RUNNER LABEL COMMAND...: runs a check or a test suite, with its output in a log, and saves its counts. RUNNER is the test
# runner whose output is parsed: libtest, node, pytest, or none for a check, which counts as one test. A command that succeeds with
# `skipped: REASON` as the first line of its output could not do its check on this machine.
# counted.sh total LABEL...: prints the counts and seconds of these labels, the longest first, the time since STARTED, and one line with the sum;
# fails if one failed or did not run. Checks of less than 5 seconds have no line.
# counted.sh forget LABEL...: forgets the counts of an earlier run.
set -uo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"
quick_profile

counts=$LOGS/counts
mkdir -p "$counts" || die "expected a folder for the counts, found another file: $counts"
# On macOS, `timeout` is called `gtimeout`, one of GNU's tools. In the foreground, so that Ctrl-C reaches the suite.
limited() { "$(command -v timeout || command -v gtimeout)" --foreground "$@"; }

# Parse the last lines of the runners to "PASSED FAILED SKIPPED"; print nothing if there are none.
libtest_counts() { # libtest cannot report a skipped test, so ours print a line "skipped: ..."
  awk '/^test result: / { for (i = 2; i <= NF; i++) if ($i == "passed;") p += $(i-1); else if ($i == "failed;") f += $(i-1); else if ($i == "ignored;") s += $(i-1) }
    /^skipped: / { p--; s++ }
    END { if (NR) print p+0, f+0, s+0 }'
}
node_counts() { # for example "# pass 12"
  awk '$1 ~ /^(#|ℹ)$/ && $2 ~ /^(pass|fail|skipped)$/ && NF == 3 { n[$2] += $3; seen = 1 } END { if (seen) print n["pass"]+0, n["fail"]+0, n["skipped"]+0 }'
}
pytest_counts() { # for example "1 failed, 11 passed, 2 skipped in 0.12s"
  awk '/ in [0-9.]+s/ && /(passed|failed|error)/ {
    for (i = 2; i <= NF; i++) { word = $i; sub(/,$/, "", word)
      if (word == "passed") p = $(i-1); else if (word == "failed" || word ~ /^errors?$/) f += $(i-1); else if (word == "skipped") s = $(i-1) }
    print p+0, f+0, s+0; exit }'
}

record() { echo "$((SECONDS - start)) $*" >"$counts/$label"; } # PASSED FAILED [NOTE]

skipped() { # LOG
  local line
  read -r line <"$1" && [ "${line#skipped: }" != "$line" ] && say "$label: $line" && record 0 0 "$line"
}

run() { # RUNNER LABEL COMMAND...
  local runner=$1 label=$2 log=$LOGS/$2.log status=0 start=$SECONDS p f s
  shift 2
  if [ "$runner" = none ]; then
    step "$label" "$log" "$@" || status=1
    if [ "$status" = 0 ] && skipped "$log"; then return; fi
    record $((1 - status)) "$status"
    return "$status"
  fi
  # A test that hangs fails with a log, instead of being cancelled by CI.
  step "$label" "$log" limited 1200 "$@" || status=$?
  if [ "$status" = 0 ] && skipped "$log"; then return; fi
  read -r p f s < <("${runner}_counts" <"$log")
  p=${p:-0} f=${f:-0} s=${s:-0}
  # The exit status is decisive. If it contradicts the runner's own count, or if there is no count, something failed
  # that no test reported.
  if [ "$status" != 0 ] && [ "$f" = 0 ]; then f=1; fi
  if [ "$status" = 0 ] && { [ "$p" = 0 ] || [ "$f" != 0 ]; }; then
    say "$label: expected at least one passed test and no failed one in ${log#"$ROOT"/}, found $p and $f"
    f=$((f > 0 ? f : 1))
  fi
  record "$p" "$f" "$([ "$s" = 0 ] || echo "$s skipped, named in ${log#"$ROOT"/}")"
  [ "$f" = 0 ]
}

total() { # LABEL...
  local label seconds p f note passed=0 failed=0 checks=0 broken=0 spent=0
  heading "summary"
  while read -r seconds label; do
    if ! read -r _ p f note 2>/dev/null <"$counts/$label"; then p=0 f=1 note="did not run"; fi
    passed=$((passed + p)) failed=$((failed + f))
    case $label in
      test-*) printf '  %-16s %4d s  %5d passed, %d failed  %s\n' "${label#test-}" "$seconds" "$p" "$f" "$note" >&2 ;;
      *)
        checks=$((checks + p)) broken=$((broken + f)) spent=$((spent + seconds))
        [ "$seconds" -lt 5 ] || say "$(printf '%-16s %4d s' "$label" "$seconds")"
        if [ "$f" != 0 ]; then say "$label failed${note:+: it $note}"; elif [ -n "$note" ]; then say "$label $note"; fi
        ;;
    esac
  done < <(for label; do echo "$(cut -d' ' -f1 "$counts/$label" 2>/dev/null || echo 0) $label"; done | sort -k1,1nr -s)
  [ -z "${STARTED:-}" ] || printf '  %-16s %4d s\n' 'elapsed' $(($(date +%s) - STARTED)) >&2
  [ $((checks + broken)) = 0 ] || printf '  %-16s %4d s  %5d passed, %d failed\n' checks "$spent" "$checks" "$broken" >&2
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}

case ${1:-} in
  none | libtest | node | pytest) run "$@" ;;
  total) shift; total "$@" ;;
  forget) shift; for label; do rm -f "$counts/$label"; done ;;
  *) die "expected \`none\`, \`libtest\`, \`node\`, \`pytest\`, \`total\` or \`forget\`, found \`${1:-}\`" ;;
esac
