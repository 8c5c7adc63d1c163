# The commands of everyday work. What they do is in CMakePresets.json and tools/.

SEEDS ?= 10000
CYCLES ?= 100
SECONDS ?= 60
FILES ?=
WORKLOAD ?=
FOLDER ?=
BUS ?= all
STORE ?= all
FAULT ?= all
.DEFAULT_GOAL := help
.PHONY: headers help setup build demo test check bench format tidy simulate crash crash-large brokers faults hostile load workloads fuzz clean
.PHONY: check-layers check-sizes check-docs check-layout check-names check-headers

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the Debian packages that are missing
	@tools/setup.sh

build: ## build the program: build/release/bin/sluice
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target sluice

demo: setup build ## run the first example
	@tools/demo.sh

test: setup ## run everything that a change must pass
	@tools/test.py

check: check-layers check-sizes check-docs check-layout check-names check-headers ## hold the tree to its rules
check-layers:
	@tools/check_layers.py
check-sizes:
	@tools/check_sizes.py
check-docs:
	@tools/check_docs.py
check-layout:
	@tools/format.sh --check
check-names:
	@tools/tidy.sh --names
headers: ## compile every header alone: takes minutes
	@cmake --preset clang >/dev/null
	@cmake --build --preset clang --target check_headers all_headers
check-headers:
	@cmake --preset clang >/dev/null
	@cmake --build --preset clang --target check_headers

bench: build ## measure: all benches, then the program with WORKLOAD=…
	@cmake --build --preset release --target benches
	@for bench in build/release/bin/*_bench; do [ ! -x "$$bench" ] || "$$bench" || exit 1; done
	@[ -z "$(WORKLOAD)" ] || build/release/bin/sluice bench $(WORKLOAD)

format: ## lay out the sources; FILES=… for some only
	@tools/format.sh $(FILES)

tidy: ## clang-tidy, all checks: takes minutes; FILES=… for some only
	@tools/tidy.sh $(FILES)

simulate: ## whole systems from seeds, all faults included: SEEDS=100000 for a long one
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target sluice_simulation
	build/release/bin/sluice_simulation --seeds $(SEEDS)

crash: build ## kill the program, restart it, compare: CYCLES=10000 for a long one
	python3 tests/crash/crash_test.py --cycles $(CYCLES)

crash-large: build ## the same with thousands of tasks and recorded workflows: CYCLES=1000 for a long one
	python3 tests/crash/crash_test.py --large --cycles $(CYCLES)

brokers: ## start, restart and kill each real broker and database that is installed
	python3 tests/brokers/brokers_test.py

faults: build ## workers, brokers and stores killed and cut off under load: BUS=nats STORE=postgres FAULT=kill CYCLES=25
	python3 tests/faults/faults.py build/release/bin/sluice --bus $(BUS) --store $(STORE) --fault $(FAULT) --cycles $(CYCLES)

hostile: build ## what 10,000 idle connections, slow senders and floods cost the others
	python3 tests/e2e/hostile_load.py build/release/bin/sluice

load: build ## events over HTTP with wrk, single and in batches
	python3 tests/e2e/event_load.py build/release/bin/sluice

workloads: build ## recorded scientific workflows against their critical paths: FOLDER=… for others
	python3 tests/conformance/wfcommons_test.py build/release/bin/sluice $(FOLDER) --all --times

fuzz: ## every fuzzer for SECONDS=60
	@tools/fuzz.sh $(SECONDS)

clean: ## remove all that was built
	rm -rf build
