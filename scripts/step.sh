# Sourced by the other scripts: where things are kept, progress lines, logs, stamps. Knows nothing of what the steps do.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# What is installed once per machine.
TOOLS=${TOOLWIRE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/toolwire}
# What belongs to this checkout.
LOGS=$ROOT/target/logs
mkdir -p "$TOOLS/bin" "$LOGS"
export PATH="$TOOLS/bin:$PATH"

# Progress goes to stderr: the standard output of a script is its answer.
say() { printf '  %s\n' "$*" >&2; }
heading() { printf '\n%s\n' "$*" >&2; }
die() { printf '\nerror: %s\n' "$*" >&2; exit 1; }

# strict says whether this is a release (TOOLWIRE_STRICT=1): what a machine lacks is an error then, and nothing takes its place.
strict() { [ -n "${TOOLWIRE_STRICT:-}" ]; }

# release_compiler prints the version of Rust that releases are built with: the workflow is the one place that names it.
release_compiler() { sed -n 's/^  RUSTUP_TOOLCHAIN: "\(.*\)"$/\1/p' "$ROOT/.github/workflows/release.yml"; }

# attempt LABEL LOG COMMAND... runs a command with its output in a file and says how long it took, with a sign of life
# every 30 seconds. For what has an alternative: if it fails, only that is said.
attempt() {
  local label=$1 log=$2 start=$SECONDS beat status=0
  shift 2
  # The heartbeat, not the command, runs in the background: background jobs of scripts ignore Ctrl-C. The sleep must not
  # hold our output open, or whoever reads it waits for the last sleep.
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

# step is attempt for what has to succeed: if it fails, both ends of the log are shown.
step() {
  local log=$2 status=0
  attempt "$@" || status=$?
  [ "$status" = 0 ] && return
  # Some tools say what is wrong first, some last.
  if [ "$(wc -l <"$log")" -le 80 ]; then cat "$log"; else head -n 20 "$log"; echo "[...]"; tail -n 60 "$log"; fi | sed 's/^/    | /' >&2
  return "$status"
}

# alongside COMMAND... runs a command while the script goes on; together waits for all of them, and fails if one does. Each has a process
# group of its own, which ends with the script: a background job of a script ignores Ctrl-C, and so do the compilers in it.
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
}
together() {
  local pid status=0
  for pid in ${others[@]+"${others[@]}"}; do wait "$pid" || status=$?; done
  others=()
  return "$status"
}

# hash_of PATH... is one digest over names and contents of files and folders, built things left out.
hash_of() {
  ( cd "$ROOT" && find "$@" \( -name target -o -name node_modules -o -name .venv -o -name dist -o -name pkg -o -name __pycache__ -o -name '.*_cache' \) -prune \
      -o -type f ! -name '*.so' ! -name '*.pyc' ! -name '*.tgz' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1 )
}

# fresh STAMP KEY says whether what the stamp stands for was made from this key.
fresh() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }
