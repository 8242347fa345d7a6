#!/usr/bin/env bash
# Proves that the core needs no standard library: checks it, with and without its features, for a target that has none.
# (`cargo check` is sufficient: paths in `std` do not resolve.)
set -euo pipefail
source "$(dirname "$0")/step.sh"

target=thumbv7em-none-eabi
core=(-p toolwire --locked --target "$target" --target-dir "$ROOT/target/no-std")
all=("" "--features serde" "--no-default-features")

if [ "${TOOLWIRE_NO_STD:-auto}" != debian ]; then
  toolchain=$(rustup show active-toolchain | cut -d' ' -f1)
  has_target() { rustup target list --installed --toolchain "$toolchain" | grep -qx "$target"; }
  if ! has_target && [ ! -e "$TOOLS/no-std-debian" ]; then
    attempt "rustup target add $target (60 s at most)" "$TOOLS/rustup-no-std.log" timeout 60 rustup target add "$target" --toolchain "$toolchain" ||
      say "rustup could not fetch it; continuing with Debian's compiler"
  fi
  if has_target; then
    for features in "${all[@]}"; do
      cargo check "${core[@]}" $features
    done
    exit 0
  fi
fi

"$ROOT/scripts/debian-rust.sh" >/dev/null
# Remembered, so that the next run does not wait for rustup.
touch "$TOOLS/no-std-debian"
for features in "${all[@]}"; do
  env -u RUSTUP_TOOLCHAIN RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc \
    /usr/bin/cargo check "${core[@]}" $features -Z build-std=core,alloc
done
