#!/usr/bin/env bash
# Finds a Rust toolchain on this machine that can compile for wasm32-unknown-unknown, and prints its name for
# RUSTUP_TOOLCHAIN. Usually, `rustup target add` installs the target. If rustup cannot download it (in closed networks,
# where it hangs rather than fails), Debian's own compiler builds the standard library for it once. TOOLWIRE_WASM=rustup
# or =debian allows only one of the two.
set -euo pipefail
source "$(dirname "$0")/step.sh"

target=wasm32-unknown-unknown
way=${TOOLWIRE_WASM:-auto}
# A release is built only by the compiler that its workflow names.
if strict; then way=rustup; fi
case $way in auto | rustup | debian) ;; *) die "TOOLWIRE_WASM: expected \`rustup\` or \`debian\`, found \`$way\`" ;; esac

debian_library() { # prints the folder of the target's standard library for Debian's compiler
  local sysroot
  sysroot=$(/usr/bin/rustc --print sysroot 2>/dev/null) && echo "$sysroot/lib/rustlib/$target/lib"
}
debian_ready() {
  local library
  library=$(debian_library) && [ "$(cat "$library/toolwire-built-by" 2>/dev/null)" = "$(/usr/bin/rustc --version)" ] &&
    rustup toolchain list | grep -q '^toolwire-debian\b'
}

if [ "$way" != debian ]; then
  default=$(rustup show active-toolchain 2>/dev/null | cut -d' ' -f1)
  [ -n "$default" ] || die "rustup has no default toolchain: run \`rustup default stable\`"
  if rustup target list --installed --toolchain "$default" | grep -qx "$target"; then echo "$default"; exit 0; fi
  # After a build with Debian's compiler, rustup is not tried (and waited for) again.
  if [ "$way" = auto ] && debian_ready; then echo toolwire-debian; exit 0; fi
  if attempt "rustup target add $target (60 s at most)" "$TOOLS/rustup-target.log" timeout 60 rustup target add "$target" --toolchain "$default"; then
    echo "$default"; exit 0
  fi
  [ "$way" = auto ] || die "rustup could not fetch $target, see $TOOLS/rustup-target.log"
  say "continuing with Debian's compiler"
fi

if debian_ready; then echo toolwire-debian; exit 0; fi
toolchain=$("$ROOT/scripts/debian-rust.sh")
library=$(debian_library)
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/src"
printf '[package]\nname = "scratch"\nversion = "0.0.0"\nedition = "2021"\n' >"$scratch/Cargo.toml"
: >"$scratch/src/lib.rs"
build_library() {
  # Without embed-bitcode, LTO in our release profile fails later. RUSTC_BOOTSTRAP: build-std is not stable yet.
  cd "$scratch" && env -u RUSTUP_TOOLCHAIN RUSTFLAGS="-C embed-bitcode=yes" RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc \
    /usr/bin/cargo build --release --target "$target" -Z build-std=std,panic_abort --target-dir "$scratch/target"
}
step "build the standard library for $target" "$TOOLS/build-std.log" build_library ||
  die "building the standard library for $target failed, see $TOOLS/build-std.log"

as_root mkdir -p "$library"
as_root find "$library" -name '*.rlib' -delete
find "$scratch/target/$target/release/deps" -name '*.rlib' ! -name 'libscratch*' -print0 | as_root xargs -0 cp -t "$library"
host=$(/usr/bin/rustc -vV | sed -n 's/^host: //p')
linkers=$(dirname "$(dirname "$library")")/$host/bin
as_root mkdir -p "$linkers"
as_root ln -sf /usr/bin/lld-19 "$linkers/rust-lld"
/usr/bin/rustc --version | as_root tee "$library/toolwire-built-by" >/dev/null
debian_ready || die "$target is still missing after the build, see $TOOLS/build-std.log"
echo "$toolchain"
