# A machine on which `make demo` and `make test` run: Debian, Rust, Python and what tests look for.
FROM rust:1-bookworm
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends \
      build-essential make python3 python3-venv pkg-config cmake libsystemc-dev \
      chromium fio libnbd-bin python3-libnbd qemu-utils openssl \
      fuse3 e2fsprogs mount postgresql \
    && rm -rf /var/lib/apt/lists/* \
    && rustup component add rustfmt clippy
WORKDIR /reprieve
COPY . .
# `docker build -t reprieve . && docker run --privileged reprieve make test`; the file system on
# the served drive needs FUSE, which is what the privilege is for.
CMD ["make", "demo"]
