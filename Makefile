# Makefile - the memorable targets; CMake does the work. Works with GNU make 3.81.
comma := ,
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
PEER ?= $(HOME)/.cache/lode-peer
MODELS_DIR := $(if $(LODE_MODELS_DIR),$(LODE_MODELS_DIR),models)
MODEL := $(MODELS_DIR)/SmolLM2-135M-Instruct.Q4_1.gguf
MAKEFLAGS += --no-print-directory

.PHONY: all configure program plugin setup chat check check-fast check-models check-peer check-plugin
.PHONY: check-plugin-asan check-plugin-tsan
.PHONY: check-op check-rule check-type check-model bench-op bench print trace compare
.PHONY: check-types lint fmt asan ubsan tsan fuzz install clean sz help

all: configure
	@cmake --build build -j$(JOBS)

plugin: configure
	@cmake --build build -j$(JOBS) --target ggml_lode

configure:
	@mkdir -p build
	@cmake -S . -B build -DCMAKE_BUILD_TYPE=Release > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }

program: configure
	@cmake --build build -j$(JOBS) --target lode

setup:
	@tools/setup.sh

chat: setup
	@test -x build/lode && test -z "$$(find CMakeLists.txt src include -newer build/lode | head -1)" || $(MAKE) -s program
	@tools/fetch_model.sh smollm2 $(MODELS_DIR)
	@exec build/lode chat -m $(MODEL)

check: setup all
	@ctest --test-dir build -LE 'models|peer' -j2 --output-on-failure --no-tests=error

check-fast: setup all
	@ctest --test-dir build -LE 'models|peer|slow' -j2 --output-on-failure --no-tests=error

check-models: setup all
	@tools/fetch_model.sh smollm2 $(MODELS_DIR)
	@tools/fetch_model.sh gemma $(MODELS_DIR)
	@ctest --test-dir build -L models --output-on-failure --no-tests=error

check-peer: all
	@tests/peer/fetch.sh $(PEER)
	@tests/peer/archs.sh 1 2 3
	@tests/peer/real.sh $(MODEL)
	@tests/peer/real.sh $(MODELS_DIR)/gemma-3-270m-Q4_K_M.gguf
	@tests/peer/types.sh $(MODEL)

# make check-plugin [OPS=ADD,MUL]: the ggml plug-in through llama.cpp's own test-backend-ops.
check-plugin: plugin
	@tests/peer/fetch.sh $(PEER)
	@PEER=$(PEER) tests/peer/plugin.sh build/libggml-lode.so $(OPS)
	@$(if $(OPS),true,PEER=$(PEER) tests/peer/fusion.sh build/libggml-lode.so)

# Every tensor type against the format's references; needs the peer's library and Python (make check-peer).
PEER_PYTHON ?= $(PEER)/venv/bin/python
check-types: all
	@test -x $(PEER_PYTHON) || tests/peer/fetch.sh $(PEER)
	@LODE_PEER=$(PEER) $(PEER_PYTHON) tests/peer/check_types.py build

# Work on one thing: what it is called comes as a variable, OP=rope, R=swiglu, T=q4_k, M=qwen3.
define named
	@test -n "$($(1))" || { echo "which one? make $@ $(1)=$(2)   ($(3))"; exit 2; }
endef

define built
	@cmake --build build -j$(JOBS) --target $(1) > build/one.log 2>&1 || { cat build/one.log; exit 1; }
endef

# An op's cases on every instruction set; also OP_test where there is one (attend).
OP_TEST = $(notdir $(basename $(wildcard src/*/$(OP)_test.c)))
check-op: configure
	$(call named,OP,rope,src/graph/op.def)
	$(call built,op_test $(OP_TEST))
	@build/tests/op_test $(OP)
	@for t in $(OP_TEST); do build/tests/$$t || exit 1; done

# A fused op against the ops that its rule names.
check-rule:
	$(call named,R,swiglu,src/graph/rule.def)
	@grep -qi '^RULE($(R),' src/graph/rule.def || { echo "no rule makes $(R) (src/graph/rule.def)"; exit 2; }
	@$(MAKE) check-op OP=$(R)

# A type's coding and products, and a model of it.
check-type: configure
	$(call named,T,q4_k,include/lode/types.def)
	$(call built,quant_test kern_test types_test)
	@build/tests/types_test $(T) && build/tests/quant_test && build/tests/kern_test

# A tiny model against the logits of the reference implementation.
check-model: configure
	$(call named,M,qwen3,tests/golden)
	$(call built,fixture)
	@build/tests/fixture tests/golden/$(M).json
	@build/tests/fixture --act default tests/golden/$(M).json

# make bench-op OP=matmul [T=q4_k]: speed of an op's kernels.
bench-op: configure
	$(call named,OP,matmul,bench/kern_bench.c)
	$(call built,kern_bench)
	@build/kern_bench -op $(OP) $(T)

# [M=FILE] [STAGE=kernels] [AGAINST=avx2]: the program's own views of a model.
bench: program
	@build/lode bench -m $(or $(M),$(MODEL))

print: program
	@build/lode run -m $(or $(M),$(MODEL)) --print $(or $(STAGE),plan) -p x

trace: program
	@build/lode run -m $(or $(M),$(MODEL)) --trace build/trace.json -n 16 -p 'Once upon a time' > /dev/null
	@echo 'build/trace.json: open it in ui.perfetto.dev or chrome://tracing'

compare: program
	@build/lode compare -m $(or $(M),$(MODEL)) $(if $(AGAINST),--against $(AGAINST))

lint:
	@tools/lint.py

fmt:
	@clang-format-19 -i $$(git ls-files -co --exclude-standard '*.c' '*.h')

# The sanitizers take clang 19 where it is installed, else the compiler that there is.
CLANG := $(shell command -v clang-19 2>/dev/null || echo cc)

define sanitized
	@cmake -S . -B build-$(1) -DLODE_SANITIZE=$(2) -DCMAKE_C_COMPILER=$(CLANG) > /dev/null
	@cmake --build build-$(1) -j$(JOBS)
	@ctest --test-dir build-$(1) -LE 'models|peer' -j2 --output-on-failure --no-tests=error
endef

asan:
	$(call sanitized,asan,address$(comma)undefined)

ubsan:
	$(call sanitized,ubsan,undefined)

tsan:
	$(call sanitized,tsan,thread)

# make check-plugin-asan (address and undefined), check-plugin-tsan [OPS=ADD] [EVERY=10]: a sanitized plug-in through
# each tenth case of test-backend-ops, whose program stays as it is and gets the run-time preloaded.
define sanitized_plugin
	@cmake -S . -B build-$(1) -DLODE_SANITIZE=$(2) -DCMAKE_C_COMPILER=$(CLANG) > /dev/null
	@cmake --build build-$(1) -j$(JOBS) --target ggml_lode
	@tests/peer/fetch.sh $(PEER)
	@rt=$$($(CLANG) -print-file-name=libclang_rt.$(1)-$$(uname -m).so); \
	  case $$rt in /*) ;; *) rt=$$($(CLANG) -print-file-name=lib$(1).so) ;; esac; \
	  $(3) PRELOAD=$$rt EVERY=$(or $(EVERY),10) PEER=$(PEER) tests/peer/plugin.sh build-$(1)/libggml-lode.so $(OPS)
endef

check-plugin-asan:
	$(call sanitized_plugin,asan,address$(comma)undefined,UBSAN_OPTIONS=print_stacktrace=1)

# The program itself was built without: what it does alone is not looked at.
check-plugin-tsan:
	$(call sanitized_plugin,tsan,thread,TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1)

# make fuzz F=gguf [SECONDS=60]: searches from the corpus in tests/fuzz/; new inputs go to build-fuzz/.
SECONDS ?= 60
fuzz:
	@test -n "$(F)" || { echo "which one? make fuzz F=$$(ls tests/fuzz/*_fuzz.c | sed 's|.*/||; s|_fuzz.c||' | paste -sd '|' -)"; exit 2; }
	@cmake -S . -B build-fuzz -DLODE_FUZZ=ON -DLODE_SANITIZE=address,undefined -DCMAKE_C_COMPILER=$(CLANG) > /dev/null
	@cmake --build build-fuzz -j$(JOBS) --target $(F)_fuzz
	@mkdir -p build-fuzz/corpus/$(F)
	@build-fuzz/tests/$(F)_fuzz -max_total_time=$(SECONDS) build-fuzz/corpus/$(F) tests/fuzz/$(F)

# make install [PREFIX=/usr/local] [DESTDIR=]
install: all
	@cmake --install build $(if $(PREFIX),--prefix $(PREFIX))

sz:
	@for d in src/* include tests tools; do printf '%-16s %s\n' $$d "$$(git ls-files $$d | grep -E '\.(c|h|def|py|sh)$$' | xargs cat 2>/dev/null | wc -l)"; done

clean:
	@rm -rf build build-asan build-ubsan build-tsan build-fuzz

help:
	@echo 'make           build the library, build/lode and build/tests/*'
	@echo 'make chat      install what is missing, build, fetch a small model, chat'
	@echo 'make check     every test that needs no network, peer or GPU'
	@echo 'make check-op OP=rope      one op on every instruction set'
	@echo 'make check-rule R=swiglu   a fused op against what it replaces'
	@echo 'make check-type T=q4_k     a tensor type: coding, products, a model of it'
	@echo 'make check-model M=qwen3   an architecture against the reference implementation'
	@echo 'make bench-op OP=matmul    speed of an op (T=q4_k: of one type)'
	@echo 'make bench|print|trace|compare [M=FILE] [STAGE=kernels] [AGAINST=avx2]'
	@echo 'also: setup check-fast plugin check-models check-peer check-plugin check-plugin-asan check-plugin-tsan check-types lint fmt asan ubsan tsan fuzz install sz clean'
