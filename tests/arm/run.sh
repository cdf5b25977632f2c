#!/bin/sh
# Runs the ARM wheel in dist under emulation, and compares every result with that of this machine.
#
#   tests/arm/run.sh PYTHON PREFIX
#
# PYTHON has reprieve, of the same sources. PREFIX takes an ARM Python and what the wheel needs, and
# is made anew if it is not there. Needs qemu-aarch64-static, and Debian's packages for arm64:
#   apt-get install qemu-user-static; dpkg --add-architecture arm64; apt-get update
# Nothing of another architecture is installed: packages are unpacked into PREFIX.
set -eu

python=${1:?usage: tests/arm/run.sh PYTHON PREFIX}
prefix=${2:?usage: tests/arm/run.sh PYTHON PREFIX}
root=$(cd "$(dirname "$0")/../.." && pwd)
# What an ARM Python is made of on Debian 12: the interpreter, its modules, and their libraries.
packages='python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6
    zlib1g libexpat1 libssl3 libffi8 libbz2-1.0 liblzma5 libsqlite3-0 libuuid1'

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
# The newest of this version: dist may hold others, and one version in two kinds of wheel.
wheel=$(ls -t "$root"/dist/reprieve-"$version"-*_aarch64.whl 2>/dev/null | head -n 1)
if [ -z "$wheel" ]; then
    echo "there is no ARM wheel of $version in dist;" \
        'make wheel ZIG=1 TARGETS=aarch64-unknown-linux-gnu' >&2
    exit 2
fi
command -v qemu-aarch64-static >/dev/null || {
    echo 'qemu-aarch64-static was not found; apt-get install qemu-user-static' >&2
    exit 2
}

mkdir -p "$prefix/packages"
if ! [ -e "$prefix/system/usr/bin/python3.11" ]; then
    dpkg --print-foreign-architectures | grep -qx arm64 || {
        echo 'dpkg knows no arm64; dpkg --add-architecture arm64; apt-get update' >&2
        exit 2
    }
    (cd "$prefix/packages" && apt-get -qq download $(printf '%s:arm64 ' $packages))
    for package in "$prefix"/packages/*.deb; do dpkg -x "$package" "$prefix/system"; done
fi
rm -rf "$prefix/site" "$prefix/arm" "$prefix/here"
"$python" -m pip install --quiet --disable-pip-version-check --no-compile \
    --target "$prefix/site" --python-version 3.11 --only-binary=:all: \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 "$wheel"

command='import sys; from reprieve.cli import main; sys.exit(main())'
# Poisson arrivals, a steady state, two tenants, and a trace.
for name in tlc power-loss two-tenants mysql-five-policies; do
    scenario=$root/examples/$name.toml
    PYTHONPATH="$prefix/site" qemu-aarch64-static -L "$prefix/system" \
        "$prefix/system/usr/bin/python3.11" -c "$command" \
        run "$scenario" --requests --out "$prefix/arm/$name" >/dev/null
    "$python" -c "$command" run "$scenario" --requests --out "$prefix/here/$name" >/dev/null
    "$python" "$root/tests/arm/compare.py" "$prefix/arm/$name" "$prefix/here/$name"
done
