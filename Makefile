# make demo | make test   on a fresh machine with Python >= 3.11, a C++ compiler and make: all that is needed first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
SOURCES := pyproject.toml CMakeLists.txt $(wildcard native/*)
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check

.PHONY: help demo test native-test test-browser test-toolchain test-readme docs bench fits faults same-bytes sanitize fuzz wheel lint format clean

help:
	@echo "make demo            set everything up, fit on a bundled data set, compare with scikit-learn"
	@echo "make test            set everything up, run all tests; ARGS='-x tests/trees' runs some"
	@echo "make native-test     the tests of the core alone"
	@echo "make test-browser    reports in the system's Chromium: errors, requests, accessibility, print"
	@echo "make test-toolchain  planewise with skops, MLflow, SHAP, Optuna, MAPIE and others, which it installs"
	@echo "make test-readme     every block of the README, in a new virtual environment"
	@echo "make docs            the documentation, in build/docs; warnings are errors"
	@echo "make bench           compare counted instructions with benchmarks/results/instructions.json; ACCEPT=1 records"
	@echo "make fits            compare fitted models with the digests in tools/fits.json; ACCEPT=1 records"
	@echo "make faults          plant forty faults; fails if the tests do not catch one; ALL=1 runs all tests for each"
	@echo "make same-bytes      fit under other threads, libraries and compilers; fails if a byte differs"
	@echo "make sanitize        tests of the core and of threads under the address, undefined and thread sanitizers"
	@echo "make fuzz            inputs found by coverage, on a sanitized core; TARGET=files CASES=100000 MINUTES=8"
	@echo "make wheel           build the source distribution and the wheel, and run the tests on the installed wheel"
	@echo "make lint            ruff, mypy, clang-format, layers, size budget"
	@echo "make format          format Python and C++"
	@echo "make clean           delete what the other targets made"

demo: $(STAMP)
	$(BIN)/planewise demo

ARGS ?=
test: $(STAMP) native-test
	$(BIN)/python -m pytest -q -n 2 $(ARGS)

test-browser: $(VENV)/.browser
	@$(BIN)/python tests/browser/chromium.py
	$(BIN)/python -m pytest -q -n 2 -m browser tests/browser

test-toolchain: $(VENV)/.toolchain
	$(BIN)/python -m pytest -q -n 2 -m toolchain tests/toolchain

test-readme:
	$(PYTHON) tools/pages.py

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -q -W --keep-going -j 2 -d build/docs-cache docs build/docs
	@echo "Open build/docs/index.html"

# The dependency group of the same name.
$(VENV)/.%: $(STAMP)
	$(PIP) --group $*
	@touch $@

bench: $(STAMP)
	$(BIN)/python -m benchmarks.instructions $(if $(ACCEPT),--accept)

fits: $(STAMP)
	$(BIN)/python -m tools.fits $(if $(ACCEPT),--accept)

faults: $(STAMP)
	$(BIN)/python tools/faults.py $(if $(ALL),--all) $(if $(ONLY),--only "$(ONLY)")

# Builds the package and installs it when the native sources or the project file changed.
$(STAMP): $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "planewise needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing: install it (Debian: apt-get install python3-venv)"; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || \
	  { echo "No C++ compiler found: install one (Debian: apt-get install g++) or set CXX"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) scikit-build-core nanobind cmake ninja
	$(PIP) --group dev
	$(PIP) --no-build-isolation -e ".[all]"
	@touch $(STAMP)

# configure FOLDER OPTIONS: CMake, whose output is shown only if it fails
NINJA := -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -S .
configure = mkdir -p build && $(BIN)/cmake $(NINJA) -B $1 $2 > $1.log 2>&1 || { cat $1.log; exit 1; }
PYTHON_CORE = -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)"

native-test: $(STAMP)
	@$(call configure,build/native,-DPLANEWISE_NATIVE_TESTS=ON)
	@$(BIN)/cmake --build build/native
	build/native/test_native
	@sh tests/native/compare_widths.sh build/native

# Both sanitizers for the tests of the core; the thread sanitizer also for Python's threads.
DEBUG := -DCMAKE_BUILD_TYPE=Debug
sanitize: $(STAMP)
	@for kind in address thread; do \
	  $(call configure,build/sanitize-$$kind,$(DEBUG) -DPLANEWISE_NATIVE_TESTS=ON -DPLANEWISE_SANITIZE=$$kind); \
	  $(BIN)/cmake --build build/sanitize-$$kind && build/sanitize-$$kind/test_native || exit 1; \
	done
	@$(call configure,build/thread-core,$(DEBUG) -DPLANEWISE_SANITIZE=thread $(PYTHON_CORE))
	@$(BIN)/cmake --build build/thread-core --target _core
	$(BIN)/python tools/other_core.py build/thread-core tests/test_threads.py

# Coverage of the core needs clang: GCC has no counters that libFuzzer reads.
MINUTES ?= 8
CLANG ?= $(firstword $(shell command -v clang++ clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19))
SANITIZERS = $(shell $(CLANG) -print-file-name=libclang_rt.asan-$$(uname -m).so)
COVERED = -DCMAKE_CXX_FLAGS=-fsanitize=fuzzer-no-link -DCMAKE_MODULE_LINKER_FLAGS=-shared-libasan
fuzz: $(VENV)/.fuzz
	@test -n "$(CLANG)" || { echo "clang is missing: install it (Debian: apt-get install clang) or set CLANG"; exit 1; }
	@$(call configure,build/fuzz-core,$(DEBUG) -DCMAKE_CXX_COMPILER=$(CLANG) $(COVERED) -DPLANEWISE_SANITIZE=address \
	  $(PYTHON_CORE))
	@$(BIN)/cmake --build build/fuzz-core --target _core
	$(BIN)/python tools/fuzz --core "$$(echo build/fuzz-core/_core.*so)" --runtime "$(SANITIZERS)" --minutes $(MINUTES) \
	  $(TARGET:%=--target %) $(CASES:%=--cases %) $(PROCESSES:%=--processes %)

# Builds four cores of its own. A part: ARGS='--conditions BLAS --only machine'
same-bytes: $(STAMP)
	$(BIN)/python tools/same_bytes.py $(ARGS)

# Installed with nothing compiled, in an environment of its own; the tests then import it from there.
wheel:
	rm -rf dist build/wheel
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install -q --disable-pip-version-check --upgrade "pip>=25.1" "build>=1.2"
	build/wheel/bin/python -m build --outdir dist
	build/wheel/bin/python -m pip install -q --disable-pip-version-check --only-binary :all: --group test \
	  "$$(echo dist/*.whl)[all]"
	build/wheel/bin/python -m pytest -q -n 2 $(if $(ARGS),$(ARGS),tests)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@cp $(VENV)/lib/python*/site-packages/planewise/_core.pyi src/planewise/  # generated; mypy looks beside the code
	$(BIN)/mypy
	$(BIN)/python tools/layers.py
	$(BIN)/python tools/size.py
	$(BIN)/clang-format --dry-run --Werror native/*.hpp native/*.cpp tests/native/*.cpp

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i native/*.hpp native/*.cpp tests/native/*.cpp

clean:
	rm -rf $(VENV) build dist docs/gallery docs/api/generated src/planewise/_core*.so src/planewise/_core.pyi
