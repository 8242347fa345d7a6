#!/usr/bin/env bash
# Runs the README's examples against the built packages. What they print has to be what their comments say.
set -euo pipefail
source "$(dirname "$0")/step.sh"
# Here `toolwire` resolves as it does for a user of the npm package.
cd "$ROOT/demo"

# All blocks of a language are one program.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$ROOT/README.md" | sed '/^```/d'; }
prints_its_comments() { # LANGUAGE COMMENT-SIGN COMMAND...
  local language=$1 sign=$2 expected found
  shift 2
  expected=$(block "$language" | sed -n "s@^$sign @@p")
  found=$(block "$language" | "$@")
  if [ -z "$expected" ] || [ "$expected" != "$found" ]; then
    printf 'README.md, %s: expected what the comments say:\n%s\nfound:\n%s\n' "$language" "$expected" "$found"
    return 1
  fi
}

prints_its_comments ts // node --input-type=module -
prints_its_comments python '#' "$ROOT/python/.venv/bin/python" -

library=$(cd "$ROOT" && cargo build -p toolwire --locked --message-format=json 2>/dev/null |
  sed -n 's/.*"name":"toolwire",.*"filenames":\["\([^"]*\.rlib\)".*/\1/p')
rustdoc --edition 2021 --test "$ROOT/README.md" --extern "toolwire=$library" -L "dependency=$(dirname "$library")/deps"
