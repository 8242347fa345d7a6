#!/usr/bin/env bash
# Toolchains and tools of Rust, and checks with other compilers than the default one.
#
# rust.sh toolchain: finds a Rust toolchain on this machine that can compile for wasm32-unknown-unknown, and prints its name for
# RUSTUP_TOOLCHAIN. Usually, `rustup target add` installs the target. If rustup cannot download it (in closed networks, where it hangs rather
# than fails), Debian's own compiler builds the standard library for it once. TOOLWIRE_WASM=rustup or =debian allows only one of the two.
# rust.sh tools: installs an exact version of wasm-pack into the tools folder, once, and the command wasm-bindgen (bindings-wasm/bindgen), for
# which wasm-pack requires the version of the crate in Cargo.lock.
# rust.sh debian: installs Debian's Rust compiler with its source, for targets that rustup cannot download, and prints its name in rustup. The
# machine's default toolchain is unchanged.
# rust.sh no-std: proves that the core needs no standard library: checks it, with and without its features, for a target that has none. (`cargo
# check` is sufficient: paths in `std` do not resolve.)
# rust.sh oldest: compiles every crate, with all features, with the oldest Rust that Cargo.toml supports (`rust-version`). If rustup cannot
# download it, only clippy's lint `incompatible_msrv` has checked it, and this command reports that.
# rust.sh clippy-wasm, clippy-windows: lints the WebAssembly bindings for their own target, and the program and its tests for Windows, which
# nothing else compiles here.
# rust.sh deny: installs cargo-deny (two minutes, once), and checks the crates against deny.toml: licenses, duplicates, sources, and RustSec
# advisories if they can be downloaded. If it cannot be installed, this is reported and succeeds, except for a release.
set -euo pipefail
source "$(dirname "$0")/step.sh"

debian() {
  toolchain=toolwire-debian
  packages="rustc-web cargo-web rust-web-src lld-19"

  installed() { [ "$(dpkg-query -W -f '${db:Status-Status}\n' $packages 2>/dev/null | sort | uniq -c | tr -s ' ')" = " 4 installed" ]; }
  as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else echo "not root, and no sudo" >&2; return 1
    fi
  }
  install_packages() {
    as_root apt-get update &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
  }

  if ! installed; then
    command -v apt-get >/dev/null || die "rustup cannot fetch the target, and this machine has no apt-get to install Debian's compiler"
    step "install Debian's Rust compiler ($packages)" "$TOOLS/apt.log" install_packages || die "apt-get failed, see $TOOLS/apt.log"
  fi
  # Linked again each time, because the link becomes stale if the compiler is reinstalled.
  rustup toolchain link "$toolchain" /usr >/dev/null 2>&1 ||
    die "\`rustup toolchain link $toolchain /usr\` failed: expected a compiler in /usr/bin"
  echo "$toolchain"
}

toolchain() {
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
  toolchain=$("$ROOT/scripts/rust.sh" debian)
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
}

tools() {
  wasm_pack=0.15.1
  wasm_bindgen=$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"$/\1/p}' "$ROOT/Cargo.lock")
  [ -n "$wasm_bindgen" ] || die "Cargo.lock: expected a package \`wasm-bindgen\`, found none"

  # wasm-pack would refuse another version only after it has compiled the module.
  grep -qx "wasm-bindgen-cli-support = \"=$wasm_bindgen\"" "$ROOT/bindings-wasm/bindgen/Cargo.toml" ||
    die "bindings-wasm/bindgen/Cargo.toml: expected wasm-bindgen-cli-support in version $wasm_bindgen, as wasm-bindgen in Cargo.lock"
  # A changed command may have the same version.
  local stamp=$TOOLS/wasm-bindgen-made-from sources
  sources=$(cd "$ROOT" && hash_of bindings-wasm/bindgen)
  fresh "$stamp" "$sources" || rm -f "$TOOLS/bin/wasm-bindgen"

  build=$TOOLS/build-$$
  trap 'rm -rf "$build"' EXIT

  ensure() { # PROGRAM VERSION SOURCE...
    local program=$1 version=$2 log=$TOOLS/$1.log
    shift 2
    case "$("$TOOLS/bin/$program" --version 2>/dev/null)" in "$program $version" | "$program $version "*) return ;; esac
    # Unoptimized: it builds in a third of the time, and makes wasm-bindgen a quarter of a second slower for our module.
    install() { CARGO_TARGET_DIR=$build CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 cargo install --root "$TOOLS" --force "$@"; }
    attempt "install $program $version (a minute, once)" "$log" install "$@" --locked && return
    if strict; then die "cargo install --locked $* failed, and a release accepts no other dependencies, see $log"; fi
    # A mirror may lack single releases that the tool's lock file names. The tool's own version is still exact.
    grep -q 'failed to select a version' "$log" || { show_log "$log"; die "cargo install $* failed, see $log"; }
    say "this registry lacks a dependency that the lock file of $program names; installing with those that it has"
    step "install $program $version with other dependencies" "$log" install "$@" || die "cargo install $* failed, see $log"
  }

  ensure wasm-pack "$wasm_pack" wasm-pack --version "=$wasm_pack"
  ensure wasm-bindgen "$wasm_bindgen" --path "$ROOT/bindings-wasm/bindgen"
  echo "$sources" >"$stamp"
}

no_std() {
  target=thumbv7em-none-eabi
  core=(-p toolwire --locked --target "$target" --target-dir "$ROOT/target/no-std")
  all=("" "--features serde" "--no-default-features" "--no-default-features --features search")

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

  "$ROOT/scripts/rust.sh" debian >/dev/null
  # Remembered, so that the next run does not wait for rustup.
  touch "$TOOLS/no-std-debian"
  for features in "${all[@]}"; do
    env -u RUSTUP_TOOLCHAIN RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc \
      /usr/bin/cargo check "${core[@]}" $features -Z build-std=core,alloc
  done
}

oldest() {
  version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
  [ -n "$version" ] || die "Cargo.toml: expected a \`rust-version\`, found none"

  installed() { rustup toolchain list | grep -q "^$version\(\.0\)\?-"; }
  refused=$TOOLS/rustup-$version-refused
  if ! installed && [ ! -e "$refused" ]; then
    attempt "rustup toolchain install $version (120 s at most, once)" "$TOOLS/rustup-$version.log" \
      timeout 120 rustup toolchain install "$version" --profile minimal --no-self-update || touch "$refused"
  fi
  if ! installed; then
    echo "skipped: rustup cannot fetch Rust $version here (delete $refused to try again); only clippy's lint incompatible_msrv has checked it"
    exit 0
  fi

  # Without the tests, whose dependencies may need a newer version.
  cargo "+$version" check --workspace --all-features --lib --locked --target-dir "$ROOT/target/msrv"
}

clippy_wasm() {
  if rustup target list --installed | grep -qx wasm32-unknown-unknown; then
    exec cargo clippy -p toolwire-wasm --locked --target wasm32-unknown-unknown -- -D warnings
  fi
  # Debian's compiler, which builds the WebAssembly here, has no clippy. `make lint-clippy` lints the crate for the host.
  echo "skipped: rustup has no library for that target; linted for this machine only"
}

clippy_windows() {
  target=x86_64-pc-windows-gnu
  if ! rustup target list --installed 2>/dev/null | grep -qx $target; then
    echo "skipped: rustup has no library for $target (\`rustup target add $target\`)"
  elif ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    echo "skipped: no x86_64-w64-mingw32-gcc, which compiles the C parts of ring and zstd (Debian: gcc-mingw-w64-x86-64)"
  else
    exec cargo clippy -p toolwire-cli --all-targets --locked --target $target -- -D warnings
  fi
}

deny() {
  version=0.20.2
  [ "$(cargo-deny --version 2>/dev/null)" = "cargo-deny $version" ] ||
    attempt "install cargo-deny $version (two minutes, once)" "$TOOLS/cargo-deny.log" \
      env -u RUSTUP_TOOLCHAIN CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
      timeout 900 cargo install cargo-deny --version "=$version" --locked --force --root "$TOOLS" || true
  if ! command -v cargo-deny >/dev/null; then
    if strict; then die "cargo-deny is not installed, see $TOOLS/cargo-deny.log"; fi
    echo "skipped: cargo-deny could not be installed, see $TOOLS/cargo-deny.log; scripts/supply-chain.mjs still checks licenses and sources"
    exit 0
  fi
  cargo deny --locked --all-features check --hide-inclusion-graph bans licenses sources
  # The advisories are in another repository, which a closed network does not reach.
  if timeout 60 cargo deny --locked fetch db >/dev/null 2>&1; then
    cargo deny --locked --all-features check --hide-inclusion-graph --disable-fetch advisories
  else
    if strict; then die "could not fetch RustSec's advisories"; fi
    echo "skipped: could not fetch RustSec's advisories"
  fi
}

cd "$ROOT"
case ${1:-} in
  toolchain | tools | debian | no-std | oldest | clippy-wasm | clippy-windows | deny) "${1//-/_}" ;;
  *) die "expected \`toolchain\`, \`tools\`, \`debian\`, \`no-std\`, \`oldest\`, \`clippy-wasm\`, \`clippy-windows\` or \`deny\`, found \`${1:-}\`" ;;
esac
