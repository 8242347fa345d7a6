#!/usr/bin/env bash
# Runs the examples of the README, of the pages named below, and of each function, with the built packages.
# Their output must match the comments in the examples.
set -euo pipefail
source "$(dirname "$0")/step.sh"
# In this folder, `toolwire` resolves as for a user of the npm package.
cd "$ROOT/demo"
status=0

# All blocks of a language in a page form one program.
block() { sed -n "/^\`\`\`$2\$/,/^\`\`\`\$/p" "$1" | sed '/^```/d'; }
prints_its_comments() { # PAGE LANGUAGE COMMENT-SIGN COMMAND...
  local page=$1 language=$2 sign=$3 expected found
  shift 3
  expected=$(block "$page" "$language" | sed -n "s@^$sign @@p")
  found=$(block "$page" "$language" | "$@" 2>&1) || true
  if [ -z "$expected" ] || [ "$expected" != "$found" ]; then
    printf '%s, %s: the expected output in its comments (<), and what it prints (>):\n' "${page#"$ROOT"/}" "$language"
    diff <(printf '%s\n' "$expected") <(printf '%s\n' "$found") || true
    status=1
  fi
}

# The same command as in `scripts/build.sh`, so that the core is not compiled again.
library=$(cd "$ROOT" && cargo build --workspace --bin toolwire-demo --locked --message-format=json 2>/dev/null |
  sed -n 's/.*"name":"toolwire",.*"filenames":\["\([^"]*\.rlib\)".*/\1/p')

# Writes each section of a page (`## …`) into a file of a folder: each function has a program of its own.
sections() { # PAGE FOLDER
  mkdir -p "$2"
  awk -v folder="$2" '/^```/ { inside = !inside }
    !inside && /^## / { name = $0; gsub(/[^A-Za-z]/, "", name); file = folder "/" name ".md" }
    file { print > file }' "$1"
}

pages=("$ROOT/README.md")
for page in python rust deferred-loading adapters mcp-clients concepts/restoring; do pages+=("$ROOT/docs/$page.md"); done
pieces="$ROOT/target/readme"
rm -rf "$pieces"
for page in "$ROOT"/docs/functions/*.md; do
  [ "$(basename "$page")" = README.md ] || sections "$page" "$pieces/$(basename "$page" .md)"
done
pages+=("$pieces"/*/*.md)
for page in "${pages[@]}"; do
  if ! grep -Eq '^```(ts|python|rust)$' "$page"; then
    echo "${page#"$ROOT"/}: expected an example, found none"
    status=1
  fi
  ! grep -q '^```ts$' "$page" || prints_its_comments "$page" ts // node --input-type=module -
  ! grep -q '^```python$' "$page" || prints_its_comments "$page" python '#' "$ROOT/python/.venv/bin/python" -
  ! grep -q '^```rust$' "$page" || rustdoc --edition 2021 --test "$page" --extern "toolwire=$library" -L "dependency=$(dirname "$library")" || status=1
done
exit "$status"
