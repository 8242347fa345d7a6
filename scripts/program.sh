#!/usr/bin/env bash
# program.sh [TARGET]: compiles the native program for a target, copies it to target/programs/PLATFORM/, and to the folder from which maturin
# takes the program of a wheel. On Linux, the default target is musl's: a static program, which runs with every C library.
#
# With TOOLWIRE_BUILD=quick, which the tests of packages use, it copies the program that `scripts/build.sh` has compiled for this machine.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-${host/-linux-gnu/-linux-musl}}
# A relative name: on Windows, Node does not import an absolute path.
platform=$(node --input-type=module -e '
  const { PLATFORMS } = await import("./npm/scripts/platforms.js");
  console.log(PLATFORMS.find(({ target }) => target === process.argv[1])?.name ?? "");' "$target")
[ -n "$platform" ] || die "expected a target of npm/scripts/platforms.js, found \`$target\`"
case $target in *windows*) name=toolwire.exe ;; *) name=toolwire ;; esac
built=$(cargo metadata --no-deps --format-version 1 --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/;s/\\\\/\//g')

compile() {
  # The C code of cryptography and decoders, for musl.
  case $target in *-linux-musl) export "CC_${target//-/_}=${CC_MUSL:-musl-gcc}" ;; esac
  cargo build --release --locked --package toolwire-cli --bin toolwire --target "$target"
}
mkdir -p "target/programs/$platform" python/toolwire._toolwire.data/scripts
if [ "${TOOLWIRE_BUILD:-}" = quick ]; then
  cp "$built/debug/$name" "target/programs/$platform/$name"
  strip "target/programs/$platform/$name"
else
  rustup target list --installed | grep -qx "$target" || step "rustup target add $target" "$LOGS/rustup-target.log" rustup target add "$target" ||
    die "the program needs Rust's target $target"
  case $target in *-linux-musl) command -v "${CC_MUSL:-musl-gcc}" >/dev/null || die "expected musl-gcc, found none; on Debian \`apt-get install musl-tools\`" ;; esac
  step "program for $platform" "$LOGS/program-$platform.log" compile
  cp "$built/$target/release/$name" "target/programs/$platform/$name"
fi
cp "target/programs/$platform/$name" python/toolwire._toolwire.data/scripts/
echo "target/programs/$platform/$name"
