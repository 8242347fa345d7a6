# Sourced by the other scripts: folders, progress lines, logs, and stamps. The steps themselves are in those scripts.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Folder for tools that are installed once per machine.
TOOLS=${TOOLWIRE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/toolwire}
# Folder for the logs of this checkout.
LOGS=$ROOT/target/logs
mkdir -p "$TOOLS/bin" "$LOGS"
export PATH="$TOOLS/bin:$PATH"
# With these variables, cargo would look for make's job server, which make does not pass on.
unset MAKEFLAGS MFLAGS MAKELEVEL

# Progress is written to stderr, because the standard output of a script is its result.
say() { printf '  %s\n' "$*" >&2; }
heading() { printf '\n%s\n' "$*" >&2; }
die() { printf '\nerror: %s\n' "$*" >&2; exit 1; }

# strict: succeeds in a release (TOOLWIRE_STRICT=1). Anything that the machine lacks is then an error, without a
# substitute.
strict() { [ -n "${TOOLWIRE_STRICT:-}" ]; }

# release_compiler: prints the version of Rust for releases, which only the workflow names.
release_compiler() { sed -n 's/^  RUSTUP_TOOLCHAIN: "\(.*\)"$/\1/p' "$ROOT/.github/workflows/release.yml"; }

# attempt LABEL LOG COMMAND...: runs a command with its output in a file, and prints its duration, and a progress line
# every 30 seconds. Used for commands with an alternative, so a failure is reported in only one
# line.
attempt() {
  local label=$1 log=$2 start=$SECONDS beat status=0
  shift 2
  # The heartbeat, not the command, runs in the background, because background jobs of scripts ignore Ctrl-C. The sleep
  # must not inherit our output, or its reader would wait for the last sleep.
  ( while sleep 30 >/dev/null 2>&1; do say "$label: still running, $((SECONDS - start)) s, log in ${log#"$ROOT"/}"; done ) &
  beat=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  { kill "$beat" && wait "$beat"; } 2>/dev/null || true
  if [ "$status" = 0 ]; then
    say "$label: ok, $((SECONDS - start)) s"
  else
    say "$label: failed (exit status $status), $((SECONDS - start)) s, log in ${log#"$ROOT"/}"
  fi
  return "$status"
}

# step: like attempt, for commands that have to succeed. After a failure, it prints both ends of the log.
step() {
  local log=$2 status=0
  attempt "$@" || status=$?
  [ "$status" = 0 ] || show_log "$log"
  return "$status"
}

# show_log LOG: some tools report the error first, others last.
show_log() {
  if [ "$(wc -l <"$1")" -le 80 ]; then cat "$1"; else head -n 20 "$1"; echo "[...]"; tail -n 60 "$1"; fi | sed 's/^/    | /' >&2
}

# alongside COMMAND...: runs a command in the background; together: waits for all of them, and fails if one failed. Each
# has its own process group, which ends with the script: a background job of a script ignores Ctrl-C, and so do the
# compilers in it.
others=()
alongside() {
  trap end_others EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  set -m
  ( trap - EXIT INT TERM; "$@" ) </dev/null &
  set +m
  others+=($!)
}
end_others() {
  local pid
  for pid in ${others[@]+"${others[@]}"}; do kill -- "-$pid" 2>/dev/null || true; done
  # A process that was starting another one may not have passed the signal on. Nothing starts after its shell has ended.
  for pid in ${others[@]+"${others[@]}"}; do wait "$pid" 2>/dev/null || true; done
  for pid in ${others[@]+"${others[@]}"}; do kill -- "-$pid" 2>/dev/null || true; done
}
together() {
  local pid status=0
  for pid in ${others[@]+"${others[@]}"}; do wait "$pid" || status=$?; done
  others=()
  return "$status"
}

# quick_profile: with TOOLWIRE_BUILD=quick or wasm, lets cargo build releases with less optimization. Optimized for size, because
# without optimization the WebAssembly would be so large that every start of a program would be slower.
quick_profile() {
  if [ "${TOOLWIRE_BUILD:-}" = quick ] || [ "${TOOLWIRE_BUILD:-}" = wasm ]; then
    export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=s CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
  fi
}

# wasm_profile: like quick_profile, for WebAssembly: a release build with TOOLWIRE_BUILD=wasm.
wasm_profile() {
  if [ "${TOOLWIRE_BUILD:-}" = wasm ]; then
    export TOOLWIRE_BUILD=release
    unset "${!CARGO_PROFILE_RELEASE_@}"
  fi
  quick_profile
}

# hash_of PATH...: prints a hash of the names and contents of files and folders, without build products.
hash_of() {
  ( cd "$ROOT" && find "$@" \( -name target -o -name node_modules -o -name .venv -o -name dist -o -name pkg -o -name __pycache__ -o -name '.*_cache' \) -prune \
      -o -type f ! -name '*.so' ! -name '*.pyc' ! -name '*.tgz' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1 )
}

# fresh STAMP KEY: succeeds if the product of the stamp was made from this key.
fresh() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }
