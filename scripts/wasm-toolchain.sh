#!/usr/bin/env bash
# Makes sure that some Rust toolchain on this machine can compile for wasm32-unknown-unknown, and prints its name for
# RUSTUP_TOOLCHAIN. Ordinary machines: `rustup target add`. Where rustup cannot fetch the target (closed networks, where
# it hangs rather than fails), Debian's own compiler builds the standard library for it once.
set -euo pipefail

target=wasm32-unknown-unknown
cache=${TOOLWIRE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/toolwire}
mkdir -p "$cache"
say() { printf '  wasm toolchain: %s\n' "$*" >&2; }

default=$(rustup show active-toolchain | cut -d' ' -f1)
if rustup target list --installed --toolchain "$default" | grep -qx "$target"; then
  echo "$default"; exit 0
fi

distro=toolwire-distro
sysroot=$(/usr/bin/rustc --print sysroot 2>/dev/null || true)
ready() { [ -n "$sysroot" ] && ls "$sysroot/lib/rustlib/$target/lib/"libstd-*.rlib >/dev/null 2>&1 && rustup toolchain list | grep -q "^$distro"; }
if ready; then echo "$distro"; exit 0; fi

say "rustup target add $target (30 s at most)"
if timeout 30 rustup target add "$target" --toolchain "$default" >"$cache/rustup-target.log" 2>&1; then
  echo "$default"; exit 0
fi
say "rustup could not fetch it; building the target with Debian's compiler (about a minute)"

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
command -v apt-get >/dev/null || { say "neither rustup nor apt-get can provide $target: see $cache/rustup-target.log"; exit 1; }
{
  as_root apt-get update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends rustc-web cargo-web rust-web-src lld-19
} >"$cache/apt.log" 2>&1 || { say "apt-get failed: see $cache/apt.log"; exit 1; }
sysroot=$(/usr/bin/rustc --print sysroot)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/src"
printf '[package]\nname = "scratch"\nversion = "0.0.0"\nedition = "2021"\n' >"$scratch/Cargo.toml"
: >"$scratch/src/lib.rs"
# Without embed-bitcode the LTO of our release profile fails later.
( cd "$scratch" && RUSTFLAGS="-C embed-bitcode=yes" RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc RUSTUP_TOOLCHAIN= \
    /usr/bin/cargo build --release --target "$target" -Z build-std=std,panic_abort --target-dir "$scratch/target" \
) >"$cache/build-std.log" 2>&1 || { say "building the standard library failed: see $cache/build-std.log"; exit 1; }

lib="$sysroot/lib/rustlib/$target/lib"
as_root mkdir -p "$lib"
find "$scratch/target/$target/release/deps" -name '*.rlib' ! -name 'libscratch*' -exec "$(command -v cp)" {} "$scratch/" \;
as_root cp "$scratch"/*.rlib "$lib/"
host=$(/usr/bin/rustc -vV | sed -n 's/^host: //p')
as_root mkdir -p "$sysroot/lib/rustlib/$host/bin"
as_root ln -sf "$(command -v lld-19 || echo /usr/bin/lld-19)" "$sysroot/lib/rustlib/$host/bin/rust-lld"
rustup toolchain link "$distro" /usr >/dev/null 2>&1 || rustup toolchain list | grep -q "^$distro"
ready || { say "the target is still missing after the build: see $cache/build-std.log"; exit 1; }
echo "$distro"
