# Makefile - the memorable targets; CMake does the work. Works with GNU make 3.81.
MODEL := models/SmolLM2-135M-Instruct.Q4_1.gguf
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PEER ?= $(HOME)/.cache/lode-peer

.PHONY: all setup chat check check-fast check-models check-peer lint fmt asan ubsan tsan install clean sz help

all:
	@cmake -S . -B build -DCMAKE_BUILD_TYPE=Release > build.log 2>&1 || { cat build.log; exit 1; }
	@cmake --build build -j$(JOBS)
	@rm -f build.log

setup:
	@tools/setup.sh

chat: setup
	@test -x build/lode || $(MAKE) -s all
	@tools/fetch_model.sh smollm2
	@exec build/lode chat -m $(MODEL)

check: setup all
	@ctest --test-dir build -LE models -j2 --output-on-failure --no-tests=error

check-fast: setup all
	@ctest --test-dir build -LE 'models|slow' -j2 --output-on-failure --no-tests=error

check-models: setup all
	@tools/fetch_model.sh smollm2
	@tools/fetch_model.sh gemma
	@ctest --test-dir build -L models --output-on-failure --no-tests=error

check-peer: all
	@tests/peer/fetch.sh $(PEER)
	@tests/peer/archs.sh 1 2 3
	@tests/peer/real.sh $(MODEL)
	@tests/peer/real.sh models/gemma-3-270m-Q4_K_M.gguf

lint:
	@tools/lint.py

fmt:
	@clang-format-19 -i $$(git ls-files '*.c' '*.h')

asan:
	@cmake -S . -B build-asan -DLODE_SANITIZE=address,undefined -DCMAKE_C_COMPILER=clang-19 > /dev/null
	@cmake --build build-asan -j$(JOBS)
	@ctest --test-dir build-asan -LE models -j2 --output-on-failure

ubsan: asan

tsan:
	@cmake -S . -B build-tsan -DLODE_SANITIZE=thread -DCMAKE_C_COMPILER=clang-19 > /dev/null
	@cmake --build build-tsan -j$(JOBS)
	@ctest --test-dir build-tsan -LE models -j2 --output-on-failure

install: all
	@cmake --install build

sz:
	@for d in src/* include tests tools; do printf '%-16s %s\n' $$d "$$(git ls-files $$d | grep -E '\.(c|h|def|py|sh)$$' | xargs cat 2>/dev/null | wc -l)"; done

clean:
	@rm -rf build build-asan build-tsan

help:
	@echo 'make           build the library, build/lode and build/tests/*'
	@echo 'make chat      install what is missing, build, fetch a small model, chat'
	@echo 'make check     every test that needs no network, peer or GPU'
	@echo 'also: setup check-fast check-models check-peer lint fmt asan tsan install sz clean'
