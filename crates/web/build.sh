#!/bin/sh
# Builds the drive explorer's core, python/reprieve/ui/reprieve.wasm, with whatever Rust has it.
#
# With rustup: `rustup target add wasm32-unknown-unknown`. Debian has the target as source only, which
# is then built along: apt-get install rustc-web cargo-web rust-web-src lld.
set -eu
cd "$(dirname "$0")/../.."

target=wasm32-unknown-unknown
build="build --locked --profile web --package reprieve-web --target $target --target-dir target/web"
library=$(rustc --print target-libdir --target $target 2>/dev/null || true)
if [ -n "$library" ] && [ -d "$library" ]; then
    cargo $build
elif [ -x /usr/bin/cargo ] && command -v wasm-ld >/dev/null &&
    [ -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library/std" ]; then
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld \
        /usr/bin/cargo $build -Zbuild-std=std,panic_abort
else
    echo 'The drive explorer needs Rust for WebAssembly: rustup target add' \
        'wasm32-unknown-unknown, or on Debian apt-get install rustc-web cargo-web rust-web-src lld.' >&2
    exit 1
fi
cp target/web/$target/web/reprieve_web.wasm python/reprieve/ui/reprieve.wasm
ls -l python/reprieve/ui/reprieve.wasm | awk '{printf "%s: %.1f MB\n", $NF, $5 / 1e6}'
