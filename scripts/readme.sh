#!/usr/bin/env bash
# Runs the examples of the README, of the page of the adapters and of those of the functions against the built packages. What they print has to be what
# their comments say.
set -euo pipefail
source "$(dirname "$0")/step.sh"
# Here `toolwire` resolves as it does for a user of the npm package.
cd "$ROOT/demo"
status=0

# All blocks of a language in a page are one program.
block() { sed -n "/^\`\`\`$2\$/,/^\`\`\`\$/p" "$1" | sed '/^```/d'; }
prints_its_comments() { # PAGE LANGUAGE COMMENT-SIGN COMMAND...
  local page=$1 language=$2 sign=$3 expected found
  shift 3
  expected=$(block "$page" "$language" | sed -n "s@^$sign @@p")
  found=$(block "$page" "$language" | "$@" 2>&1) || true
  if [ -z "$expected" ] || [ "$expected" != "$found" ]; then
    printf '%s, %s: what its comments say, and what it prints:\n' "${page#"$ROOT"/}" "$language"
    diff <(printf '%s\n' "$expected") <(printf '%s\n' "$found") || true
    status=1
  fi
}

# As `scripts/build.sh` builds the demo, or the core would be compiled once more.
library=$(cd "$ROOT" && cargo build --workspace --bin toolwire-demo --locked --message-format=json 2>/dev/null |
  sed -n 's/.*"name":"toolwire",.*"filenames":\["\([^"]*\.rlib\)".*/\1/p')

pages=("$ROOT/README.md" "$ROOT/docs/deferred-loading.md" "$ROOT/docs/adapters.md")
for page in "$ROOT"/docs/functions/*.md; do
  [ "$(basename "$page")" = README.md ] || pages+=("$page")
done
for page in "${pages[@]}"; do
  prints_its_comments "$page" ts // node --input-type=module -
  grep -q '^```python$' "$page" || continue
  prints_its_comments "$page" python '#' "$ROOT/python/.venv/bin/python" -
  rustdoc --edition 2021 --test "$page" --extern "toolwire=$library" -L "dependency=$(dirname "$library")" || status=1
done
exit "$status"
