#!/bin/sh
# Installs toolwire @VERSION@ into $TOOLWIRE_INSTALL, by default ~/.local/bin:
#
#   curl -LsSf https://github.com/toolwire/toolwire/releases/download/v@VERSION@/install.sh | sh
#
# The checksums are part of this file, so the archive is the one that belongs to it. Nothing else is changed.
set -eu

version=@VERSION@
from=${TOOLWIRE_DOWNLOAD:-https://github.com/toolwire/toolwire/releases/download/v$version}
to=${TOOLWIRE_INSTALL:-$HOME/.local/bin}

fail() {
  echo "error: $1" >&2
  exit 1
}

main() {
  case $(uname -s) in
    Linux) system=unknown-linux-musl ;;
    Darwin) system=apple-darwin ;;
    *) fail "expected Linux or macOS, found $(uname -s): \`cargo install toolwire-cli\` compiles the program" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "expected x86-64 or arm64, found $(uname -m): \`cargo install toolwire-cli\` compiles the program" ;;
  esac
  target=$machine-$system
  case $target in
    # @CHECKSUMS@
    *) fail "expected a program for $target, found none: \`cargo install toolwire-cli\` compiles it" ;;
  esac

  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  archive=$folder/toolwire.tar.gz
  if command -v curl >/dev/null; then
    curl --proto '=https,file' --location --silent --show-error --fail --output "$archive" "$from/toolwire-$target.tar.gz"
  elif command -v wget >/dev/null; then
    wget --quiet --output-document "$archive" "$from/toolwire-$target.tar.gz"
  else
    fail 'expected curl or wget, found none'
  fi
  if command -v sha256sum >/dev/null; then
    found=$(sha256sum "$archive")
  else
    found=$(shasum -a 256 "$archive")
  fi
  [ "${found%% *}" = "$expected" ] || fail "expected the checksum $expected of toolwire-$target.tar.gz, found ${found%% *}"
  tar -xzf "$archive" -C "$folder"
  mkdir -p "$to"
  # Replaced at once, because the program may be running.
  cp "$folder/toolwire-$target/toolwire" "$to/.toolwire.new"
  mv -f "$to/.toolwire.new" "$to/toolwire"
  echo "installed $("$to/toolwire" --version) in $to"
  case :$PATH: in *:"$to":*) ;; *) echo "add $to to PATH" ;; esac
}

# The last line, so that a truncated download does nothing.
main
