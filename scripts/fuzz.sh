#!/usr/bin/env bash
# fuzz.sh [SECONDS [TARGET...]]: runs the fuzz targets of core/fuzz (by default all) with libFuzzer, each for the given
# time (60 s). Inputs that reach new code are saved in target/fuzz/corpus/TARGET and reused the next time; failures are
# saved in target/fuzz/finds/TARGET, and `fuzz.sh FIND TARGET` runs one again.
#
# Any Rust compiler will do: the flags are those of cargo-fuzz without a sanitizer, which safe code does not need.
# libFuzzer itself needs a C++ compiler; without one, the targets run on random seeds, without coverage.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

all="answers arguments reader replies requests sanitize"
what=${1:-60}
shift || true
targets=${*:-$all}
for target in $targets; do
  case " $all " in *" $target "*) ;; *) die "expected one of ${all// /, }, found \`$target\`" ;; esac
done
if [[ ! $what =~ ^[1-9][0-9]*$ ]]; then
  [ -f "$what" ] && [ $# = 1 ] || die "expected a number of seconds, or a find and its target, found \`$what\`${1:+ and \`$*\`}"
fi

if ! command -v "${CXX:-c++}" >/dev/null; then
  [[ $what =~ ^[0-9]+$ ]] || die "running a find again needs libFuzzer, which needs a C++ compiler: expected \`c++\` on the PATH, found none"
  say "no C++ compiler, so no libFuzzer: running the targets on random seeds"
  step "build the targets" "$LOGS/build-fuzz.log" cargo build --release --locked -p toolwire-fuzz --bin soak
  soak=${CARGO_TARGET_DIR:-target}/release/soak
  for target in $targets; do
    # The seeds change daily.
    first=$(($(date +%s) / 86400 * 1000000000)) end=$((SECONDS + what))
    while [ $SECONDS -lt $end ]; do
      "$soak" "$target" "$first" 10000
      first=$((first + 10000))
    done
  done
  exit
fi

host=$(rustc -vV | sed -n 's/^host: //p')
# The flags of cargo-fuzz: counters on every edge, and tracing of comparisons.
coverage="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions"
case $host in *-apple-*) ;; *) coverage+=" -Cllvm-args=-sanitizer-coverage-stack-depth" ;; esac
built=$ROOT/target/fuzz/build
bins=()
for target in $targets; do bins+=(--bin "$target"); done
# For an explicit target, so that macros and build scripts, which run on the host, are not instrumented.
step "build the targets" "$LOGS/build-fuzz.log" env RUSTFLAGS="$coverage" CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 \
  CARGO_PROFILE_RELEASE_STRIP=none CARGO_PROFILE_RELEASE_DEBUG=line-tables-only \
  cargo build --release --locked -p toolwire-fuzz --features libfuzzer "${bins[@]}" --target "$host" --target-dir "$built"

failed=0
for target in $targets; do
  program=$built/$host/release/$target
  if [ -f "$what" ]; then "$program" "$what"; continue; fi
  corpus=$ROOT/target/fuzz/corpus/$target finds=$ROOT/target/fuzz/finds/$target
  mkdir -p "$corpus" "$finds"
  log=$LOGS/fuzz-$target.log
  attempt "fuzz $target" "$log" "$program" "$corpus" -artifact_prefix="$finds/" -max_total_time="$what" -max_len=4096 -timeout=25 -rss_limit_mb=4096 -print_final_stats=1 || failed=1
  say "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, $(find "$corpus" -type f | wc -l) kept, $(find "$finds" -type f | wc -l) finds"
done
exit $failed
