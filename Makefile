# make demo | make test   on a fresh machine with Python >= 3.11, a C++ compiler and make: all that is needed first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
BROWSER_STAMP := $(VENV)/.browser
DOCS_STAMP := $(VENV)/.docs
TOOLCHAIN_STAMP := $(VENV)/.toolchain
FUZZ_STAMP := $(VENV)/.fuzz
SOURCES := pyproject.toml CMakeLists.txt $(wildcard native/*)

.PHONY: demo test test-browser test-readme quick bench bench-accept lint format native-test sanitize fuzz fuzz-serve soak chaos race live clean help test-toolchain wheel portable windows-test docs toolchain-versions same-bytes fuzz-review reliability faults

help:
	@echo "make demo         set everything up, fit on a bundled data set, compare with scikit-learn"
	@echo "make test         set everything up, run all tests"
	@echo "make test-browser the pages of reports in the system's Chromium: errors, requests, axe-core, print"
	@echo "make test-toolchain  planewise with skops, MLflow, SHAP, Optuna and others, which it installs"
	@echo "make docs         the documentation, in build/docs; warnings are errors"
	@echo "make test-readme  every block of the README, in a new virtual environment"
	@echo "make quick        the tests again, without the native ones"
	@echo "make bench        count the instructions of small fits and predictions; fails if they became slower"
	@echo "make live         compile the live example of the site to WebAssembly"
	@echo "make lint         ruff, mypy, layers, clang-format, portable words, news fragments"
	@echo "make sanitize     native tests under the address, undefined-behaviour and thread sanitizers"
	@echo "make fuzz         inputs found by coverage, on a core with sanitizers; TARGET=files MINUTES=8 CASES=100000"
	@echo "make fuzz-serve   hostile requests to planewise serve, made by schemathesis from its OpenAPI document"
	@echo "make soak         thousands of fits, predictions and requests; fails if memory, open files or threads pile up"
	@echo "make chaos        kill -9 at many moments, and full disks; fails if anything was lost"
	@echo "make race         fits and predictions from many threads, forks and signals, on a core with the thread sanitizer"
	@echo "make same-bytes   fit every kind of model under other threads, libraries and compilers; tells where a byte differs"
	@echo "make fuzz-review  hostile requests to planewise review: forms made by schemathesis, and raw bytes"
	@echo "make reliability  the tests that docs/reliability.md names, promise by promise"
	@echo "make faults       plant forty faults; fails if the tests do not catch one; ALL=1 runs the whole suite for each"
	@echo "make wheel        build, check, install and test the wheel and the source distribution, in dist/"
	@echo "make portable     compile the core with clang and for Windows, as far as they are installed"
	@echo "make format       put the code into shape"

demo: $(STAMP)
	$(BIN)/planewise demo

test: $(STAMP) native-test
	$(BIN)/python -m pytest -q -n 2

test-browser: $(BROWSER_STAMP)
	@$(BIN)/python tests/browser/chromium.py
	$(BIN)/python -m pytest -q -n 2 -m browser tests/browser

test-toolchain: $(TOOLCHAIN_STAMP)
	$(BIN)/python -m pytest -q -n 2 -m toolchain tests/toolchain

# The versions that passed, on the page.
toolchain-versions: test-toolchain
	$(BIN)/python tools/tool_chain_table.py

test-readme:
	$(PYTHON) tools/pages.py

docs: $(DOCS_STAMP)
	$(BIN)/sphinx-build -q -W --keep-going -j 2 -d build/docs-cache docs build/docs
	@echo "Open build/docs/index.html"

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check --group docs
	@touch $(DOCS_STAMP)

quick: $(STAMP)
	$(BIN)/python -m pytest -q -n 2 -x

bench: $(STAMP)
	$(BIN)/python -m benchmarks.instructions

bench-accept: $(STAMP)
	$(BIN)/python -m benchmarks.instructions --accept

# Builds and installs the package when the native sources or the project file changed.
$(STAMP): $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "planewise needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing: install it (Debian: apt-get install python3-venv)"; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || \
	  { echo "No C++ compiler found: install one (Debian: apt-get install g++) or set CXX"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install -q --disable-pip-version-check scikit-build-core nanobind cmake ninja
	$(BIN)/python -m pip install -q --disable-pip-version-check --group dev
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-build-isolation -e ".[all]"
	@touch $(STAMP)

$(BROWSER_STAMP): $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check --group browser
	@touch $(BROWSER_STAMP)

$(TOOLCHAIN_STAMP): $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check --group toolchain
	@touch $(TOOLCHAIN_STAMP)

CONFIGURE := $(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DPLANEWISE_NATIVE_TESTS=ON -S .

native-test: $(STAMP)
	@mkdir -p build
	@$(CONFIGURE) -B build/native > build/native.log 2>&1 || { cat build/native.log; exit 1; }
	@$(BIN)/cmake --build build/native
	build/native/test_native
	@sh tests/native/compare_widths.sh build/native

sanitize: sanitize-address sanitize-thread

sanitize-%: $(STAMP)
	@mkdir -p build
	@$(CONFIGURE) -B build/$@ -DCMAKE_BUILD_TYPE=Debug -DPLANEWISE_SANITIZE=$* > build/$@.log 2>&1 || \
	  { cat build/$@.log; exit 1; }
	@$(BIN)/cmake --build build/$@
	build/$@/test_native

# The installed core stays as it is. Coverage of the core needs clang: GCC has no counters that libFuzzer reads.
MINUTES ?= 8
CLANG ?= $(firstword $(shell command -v clang++ clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19))
SANITIZERS = $(shell $(CLANG) -print-file-name=libclang_rt.asan-$$(uname -m).so)
fuzz: $(FUZZ_STAMP)
	@test -n "$(CLANG)" || { echo "clang is missing: install it (Debian: apt-get install clang) or set CLANG"; exit 1; }
	@mkdir -p build
	@$(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -S . -B build/fuzz-core -DCMAKE_BUILD_TYPE=Debug \
	  -DCMAKE_CXX_COMPILER=$(CLANG) -DCMAKE_CXX_FLAGS=-fsanitize=fuzzer-no-link -DCMAKE_MODULE_LINKER_FLAGS=-shared-libasan \
	  -DPLANEWISE_SANITIZE=address -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
	  -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" > build/fuzz-core.log 2>&1 || { cat build/fuzz-core.log; exit 1; }
	@$(BIN)/cmake --build build/fuzz-core --target _core
	$(BIN)/python tools/fuzz --core "$$(echo build/fuzz-core/_core.*so)" --runtime "$(SANITIZERS)" --minutes $(MINUTES) \
	  $(TARGET:%=--target %) $(CASES:%=--cases %) $(PROCESSES:%=--processes %)

$(FUZZ_STAMP): $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check --group fuzz
	@touch $(FUZZ_STAMP)

fuzz-serve: $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check schemathesis
	$(BIN)/python tools/hostile_requests.py

# Fits, predictions, exports and requests again and again; fails if memory, open files or threads pile up.
SOAK ?=
soak: $(STAMP)
	$(BIN)/python tools/soak.py $(SOAK)

# kill -9 at many moments, and full disks; fails if anything was lost.
CHAOS ?=
chaos: $(STAMP)
	$(BIN)/python tools/chaos.py $(CHAOS)

# Python's threads on a core with the thread sanitizer.
RACE ?=
race: $(STAMP)
	@mkdir -p build
	@$(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -S . -B build/race -DCMAKE_BUILD_TYPE=Debug \
	  -DPLANEWISE_SANITIZE=thread -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
	  -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" > build/race.log 2>&1 || { cat build/race.log; exit 1; }
	@$(BIN)/cmake --build build/race --target _core
	$(BIN)/python tools/race.py --core "$$(echo build/race/_core.*so)" $(RACE)

# Builds four cores of its own, in build/same-bytes. A part: SAME_BYTES='--conditions BLAS --only machine'
same-bytes: $(STAMP)
	$(BIN)/python tools/same_bytes.py $(SAME_BYTES)

FUZZ_REVIEW ?= --examples 200 --minutes 3
fuzz-review: $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check schemathesis
	$(BIN)/python tools/hostile_review.py $(FUZZ_REVIEW)

# The long runs that the page names have targets of their own.
reliability: $(STAMP)
	$(BIN)/python tools/reliability.py -n 2

# In a copy, in build/faults.
faults: $(STAMP)
	$(BIN)/python tools/faults.py $(if $(ALL),--all) $(if $(ONLY),--only "$(ONLY)")

live: $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check --group live
	$(BIN)/python tools/live_core.py

# PYTHON runs it; it looks for other Pythons on the PATH. More: ALSO="/path/to/python3.13 ...". No tests: TESTS=
TESTS ?= -n 2 tests --pyargs planewise
wheel:
	@command -v $${CXX:-c++} >/dev/null || \
	  { echo "No C++ compiler found: install one (Debian: apt-get install g++) or set CXX"; exit 1; }
	$(PYTHON) tools/wheel.py --tests "$(TESTS)" $(ALSO:%=--also %)

# The native tests as a Windows program, run by Wine.
windows-test: $(STAMP)
	@command -v x86_64-w64-mingw32-g++-posix >/dev/null && command -v wine >/dev/null || \
	  { echo "GCC for Windows or Wine is missing (Debian: apt-get install g++-mingw-w64-x86-64-posix wine wine64)"; exit 1; }
	@mkdir -p build
	@$(CONFIGURE) -B build/windows -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_CXX_COMPILER=x86_64-w64-mingw32-g++-posix \
	  -DCMAKE_EXE_LINKER_FLAGS=-static > build/windows.log 2>&1 || { cat build/windows.log; exit 1; }
	@$(BIN)/cmake --build build/windows
	WINEDEBUG=-all WINEPREFIX=$(CURDIR)/build/wine wine build/windows/test_native.exe

portable:
	$(PYTHON) tools/portable.py --compile

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@cp $(VENV)/lib/python*/site-packages/planewise/_core.pyi src/planewise/  # generated; mypy looks beside the code
	$(BIN)/mypy
	$(BIN)/python tools/layers.py
	$(BIN)/python tools/portable.py
	@mkdir -p build && $(BIN)/towncrier build --draft --version next > build/news.log 2>&1 || { cat build/news.log; exit 1; }
	$(BIN)/clang-format --dry-run --Werror native/*.hpp native/*.cpp tests/native/*.cpp packaging/wasm/*.cpp

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i native/*.hpp native/*.cpp tests/native/*.cpp packaging/wasm/*.cpp

clean:
	rm -rf $(VENV) build dist docs/gallery docs/api/generated src/planewise/_core*.so
