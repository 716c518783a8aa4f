# Everything from a fresh clone, on a machine with Rust 1.90 or newer, Python 3.11 or newer, a C compiler and make.
#
#   make demo      three party processes on this machine answer the credit question
#   make quick     after a small change: lint, tests inside the Rust libraries, Python tests that start no process
#   make test      every check and every test
#   make nightly   the same, with long searches for counterexamples, and make constant-time
#   make constant-time   no branch and no address depends on a secret (needs valgrind)
#   make security  bits of security of a whole run, recomputed from the code's own constants
#   make bench     measured speed beside the machine's own limits, saved under benches/results
#   make build     a wheel in dist/
#
# `make build` and `make security` take FEATURES=heavier-noise, the safer noise of silent correlations (SECURITY.md).

PYTHON ?= python3
FEATURES ?=
VENV := .venv
BIN := $(VENV)/bin

# Compiled code outlives the clone, one folder for each compiler: a fresh clone on the same machine recompiles only tacit.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tacit
CARGO_TARGET_DIR ?= $(CACHE)/cargo-$(shell rustc --version | cut -d' ' -f2)
export CARGO_TARGET_DIR
# What a fresh clone compiles it compiles once: a record for the next time would cost more than it gives.
export CARGO_INCREMENTAL ?= 0

NATIVE_SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)
PINS := pyproject.toml constraints.txt

.PHONY: demo quick test nightly constant-time valgrind security bench build lint test-rust test-python clean
.DELETE_ON_ERROR:

demo: $(VENV)/native
	@$(BIN)/tacit demo credit

# Recompiles only what has changed, in a folder of its own: the other targets keep no record of a crate's parts.
# Python is tested with the native module as it was last built; make .venv/native builds it anew.
quick: export CARGO_INCREMENTAL := 1
quick: export CARGO_TARGET_DIR := $(CARGO_TARGET_DIR)-quick
quick: export CARGO_PROFILE_DEV_OPT_LEVEL := 1
quick: export CARGO_PROFILE_TEST_OPT_LEVEL := 1
quick: export PROPTEST_CASES ?= 16
quick: export PROPTEST_RNG_SEED ?= 1
quick: export TACIT_SEED ?= 1
quick: $(VENV)/tests $(if $(wildcard $(VENV)/native $(VENV)/checked),,$(VENV)/native)
	cargo fmt --all --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict python
	cargo clippy --locked --workspace --lib --quiet -- -D warnings
	cargo test --locked --workspace --lib --quiet -- --skip views
	$(BIN)/python -m pytest -m "not nightly" --quiet --numprocesses=2 tests/docs/test_language.py tests/docs/test_links.py \
		tests/docs/test_architecture.py tests/federation tests/local tests/plan tests/sql

# Rust's part is mostly compiling and Python's mostly waiting for parties: they run side by side.
test: lint
	@$(MAKE) --no-print-directory --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) test-rust test-python
	@echo "make test: all checks passed"

# A case of matching is a whole match of two parties: sixteen times as many as in `make test` are 192. A case of tables is
# a plan of every operator, so that there are fewer of these, too.
nightly: valgrind lint test-rust $(VENV)/native $(VENV)/tests
	PROPTEST_CASES=4096 BOLERO_RANDOM_TEST_TIME_MS=120000 cargo test --locked --workspace --exclude tacit-linkage --exclude tacit-table
	PROPTEST_CASES=512 cargo test --locked --package tacit-table
	PROPTEST_CASES=192 BOLERO_RANDOM_TEST_TIME_MS=120000 cargo test --locked --package tacit-linkage
	cargo test --locked --workspace --test views -- --ignored
	cargo test --locked --workspace --lib views -- --ignored
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -m "nightly or not nightly" -o faulthandler_timeout=0
	cargo test --locked --package tacit-net --features heavier-noise
	cargo test --locked --package tacit-ot --package tacit-mpc --package tacit-psi --package tacit-security --features tacit-ot/heavier-noise
	cargo run --locked --release --package tacit-math --example timing
	$(MAKE) --no-print-directory constant-time

# Tests of secrets under valgrind's memcheck, in a build of their own (docs/security/constant-time.md): portable code, which memcheck
# knows; optimised as a release is, without the checks of overflows that tests have, which branch on everything.
constant-time: export TACIT_SEED ?= 1
constant-time: export CARGO_TARGET_DIR := $(CARGO_TARGET_DIR)-memcheck
constant-time: export RUSTFLAGS := --cfg tacit_memcheck --cfg aes_backend="soft" --cfg curve25519_dalek_backend="serial" -C dwarf-version=4
constant-time: export CARGO_PROFILE_TEST_OPT_LEVEL := 3
constant-time: export CARGO_PROFILE_TEST_DEBUG := line-tables-only
constant-time: export CARGO_PROFILE_TEST_DEBUG_ASSERTIONS := false
constant-time: export CARGO_PROFILE_TEST_OVERFLOW_CHECKS := false
constant-time: export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER := valgrind --quiet --error-limit=no --num-callers=20 --suppressions=$(CURDIR)/crates/marks/by-design.supp
constant-time: valgrind
	$(call all_pass,tacit-marks,planted,,5)
	$(call all_pass,tacit-math,matrix,constant_time,2)
	$(call all_pass,tacit-mpc,views,constant_time,8)
	$(call all_pass,tacit-table,suite,constant_time,7)
	$(call all_pass,tacit-ot,protocols,constant_time,9)
	$(call all_pass,tacit-psi,relatives,constant_time,16)
	$(call all_pass,tacit-psi,circuit,constant_time,3)

# The tests of a package and a file that have this word in their names: the fourth argument is their number, and all
# pass. Where none has the word, cargo is content.
define all_pass
cargo test --locked --package $(1) --test $(2) $(3) -- --test-threads=1 | tee -a /dev/stderr | grep --quiet "ok. $(4) passed"
endef

# Before the hour of all that comes before it in `make nightly`.
valgrind:
	@command -v valgrind >/dev/null || { echo "make constant-time needs valgrind: apt-get install valgrind"; exit 1; }

# Under the profile of the tests, which have compiled most of it.
security:
	@cargo run --quiet --locked --profile test --package tacit-security $(if $(FEATURES),--features $(FEATURES))

bench: $(VENV)/native $(VENV)/tests
	$(BIN)/python benches/run.py

build: $(VENV)/tests
	$(BIN)/maturin build --release --out dist $(if $(FEATURES),--features $(FEATURES))

lint: $(VENV)/tests
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/crates/marks/clippy-memcheck.sh cargo check --locked --tests --quiet \
		--package tacit-marks --package tacit-math --package tacit-mpc --package tacit-table --package tacit-ot --package tacit-psi
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict python

# Generated cases repeat themselves here, so that a change and not chance makes a test fail; `make nightly` makes new ones.
# The portable AES path is chosen when the code is compiled, so it needs a build of its own.
# Cargo has jobs of its own; told of make's, it would warn that it cannot reach them.
test-rust: export PROPTEST_RNG_SEED ?= 1
test-rust: export BOLERO_RANDOM_SEED ?= 1
test-rust: export BOLERO_RANDOM_ITERATIONS ?= 0
test-rust: export TACIT_SEED ?= 1
test-rust:
	env -u MAKEFLAGS -u MFLAGS cargo test --locked --workspace
	env -u MAKEFLAGS -u MFLAGS RUSTFLAGS='--cfg aes_backend="soft"' CARGO_TARGET_DIR="$(CARGO_TARGET_DIR)-soft" cargo test --locked --package tacit-math

# A file's tests stay in one process and in their order. The process that a test brings down ends the run.
# The long searches of tests marked "nightly" stay out; README's commands and the three-process demo are among the tests.
# Hundreds of processes import tacit: compiled once, a third of the time.
test-python: export PYTHONDONTWRITEBYTECODE :=
test-python: $(VENV)/checked $(VENV)/tests
	$(BIN)/python -m pytest -m "not nightly" --numprocesses=3 --dist=loadfile --no-loadscope-reorder --max-worker-restart=0

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "tacit needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/runtime: $(VENV)/bin/python $(PINS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt duckdb sqlglot rich maturin
	@touch $@

# The packages that pyproject.toml names for tests.
$(VENV)/tests: $(VENV)/runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt $$($(BIN)/python -c \
		'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["test"])')
	@touch $@

# Installs the sources in place: a change of Python code needs no new build. `make test` has a native module of the
# tests' profile, of which Rust's tests have compiled most, with checks of overflows. The last one made is in place.
$(VENV)/native: PROFILE := release
$(VENV)/checked: PROFILE := dev
$(VENV)/native $(VENV)/checked: $(VENV)/runtime $(NATIVE_SOURCES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --profile $(PROFILE) --locked
	@rm -f $(VENV)/native $(VENV)/checked
	@touch $@

clean:
	rm -rf $(VENV) dist
