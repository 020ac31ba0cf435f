# SPDX-License-Identifier: BSD-3-Clause
# Every target does its own set-up (Debian packages, .venv, build), and only what is missing of it.
MAKEFLAGS += --no-print-directory
PRESETS = release debug ci lint asan tsan fuzz
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
LAB ?= --hosts 4

.DEFAULT_GOAL := help
.PHONY: help build test demo bench lab instructions hot lint format sanitize clean $(PRESETS:%=configure-%)

help: ## Show this text
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1 \2/p' $(firstword $(MAKEFILE_LIST)) | awk '{printf "  %s %-12s", $$1, $$2; $$1 = $$2 = ""; print}'

build: ## Build the library and the programs into build/release
	@scripts/setup build
	@$(MAKE) configure-release
	@cmake --build --preset release --parallel $(JOBS)

test: ## Build everything with -Werror into build/ci and run every test
	@scripts/setup build test mpi lab slurm
	@$(MAKE) configure-ci
	@cmake --build --preset ci --parallel $(JOBS)
	@scripts/test build/ci

demo: ## Compress a real file on 1, 2 and 4 processes, and check and time it
	@scripts/setup build demo
	@$(MAKE) configure-release
	@cmake --build --preset release --parallel $(JOBS)
	@PATH=$(CURDIR)/build/release/bin:$$PATH .venv/bin/python apps/compress/demo.py

bench: ## Run the benchmarks (BENCH=name for one of them, BENCH="versus allreduce -n 2")
	@scripts/setup build bench
	@$(MAKE) configure-release
	@cmake --build --preset release --parallel $(JOBS)
	@scripts/bench build/release $(BENCH)

lab: ## A shell on a cluster of network namespaces (LAB="--hosts 8 --rate 100mbit"), see docs/lab.md
	@scripts/setup lab
	@PATH=$(CURDIR)/build/release/bin:$$PATH .venv/bin/python tests/lab/lab.py $(LAB)

instructions: ## Record how many instructions small collectives take with this compiler; `make test` compares
	@scripts/setup build test
	@$(MAKE) configure-ci
	@cmake --build --preset ci --parallel $(JOBS) --target tutti-instructions
	@.venv/bin/python scripts/instructions.py record build/ci

hot: ## Record which functions small calls run through; the linker puts them side by side
	@scripts/setup build test
	@$(MAKE) configure-release configure-ci
	@cmake --build --preset release --parallel $(JOBS) --target tutti-hot
	@cmake --build --preset ci --parallel $(JOBS) --target tutti-hot
	@.venv/bin/python scripts/hot.py build/release build/ci

lint: ## Check format, clang-tidy, ruff, shellcheck and the rules of the tree
	@scripts/setup build lint
	@$(MAKE) configure-lint
	@cmake --build --preset lint --target build.ninja >/dev/null
	@scripts/lint build/lint

format: ## Write C++ and Python in the project's format
	@scripts/setup build lint
	@git ls-files '*.hpp' '*.cpp' '*.h' '*.c' | xargs clang-format-16 -i
	@.venv/bin/ruff format --quiet . && .venv/bin/ruff check --quiet --fix .

sanitize: ## Run tests under ASan+UBSan, TSan and valgrind, and fuzz (FUZZ_SECONDS=60 each)
	@scripts/setup build sanitize
	@$(MAKE) configure-asan configure-tsan configure-fuzz configure-ci
	@FUZZ_SECONDS=$(FUZZ_SECONDS) JOBS=$(JOBS) scripts/sanitize

clean: ## Remove what was built (build/); .venv and ccache stay
	@rm -rf build

# Once configured, ninja notices by itself what makes a new configuration necessary.
$(PRESETS:%=configure-%): configure-%:
	@test -f build/$*/build.ninja -a build/$*/build.ninja -nt CMakePresets.json || cmake --preset $* >/dev/null
