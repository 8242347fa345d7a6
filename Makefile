# Needs only rustup, Node 20.19 and Python 3.10 or later: every target sets up the rest.

.DEFAULT_GOAL := help
.PHONY: help demo test test-core lint packages check playground devtools docs fuzz judges clients bench figures bench-peers package release-check setup clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 22

demo: ## three real MCP servers through all functions, in three languages (ARGS=--all: a line per tool)
	@scripts/demo.sh $(ARGS)

test: ## every test in every language, and nothing else
	@scripts/test.sh tests

test-core: ## only the core's tests, for a quick check after a change there
	@cargo test --locked -p toolwire

lint: ## formats and lints in every language
	@scripts/test.sh lint

packages: ## the other checks of CI: packed crate, oldest Rust, no_std, advisories, reproducible WebAssembly
	@scripts/test.sh packages

check: ## lint, packages and test: what CI runs
	@scripts/test.sh check

playground: ## a page to try everything in, served on this machine
	@scripts/playground.sh

devtools: ## the library for the console of any page, served on this machine
	@scripts/devtools.sh

docs: ## the documentation as a site with search, served on this machine
	@scripts/docs.sh

fuzz: ## fuzz targets on generated inputs (TIME=3600: seconds for each target; TARGET=sanitize: only this one)
	@scripts/fuzz.sh $(or $(TIME),60) $(TARGET)

judges: ## only the judges and SDKs of the tests (NEWEST=1: their newest releases, with a report in target/judges.md)
	@scripts/judges.sh $(if $(NEWEST),newest)

clients: ## Claude Code, Codex and opencode through `toolwire relay` (1 GB)
	@scripts/clients.sh

bench: ## microseconds per tool in each language (DATA=tools.jsonl: other tools than the demo's)
	@scripts/bench.sh $(DATA)

figures: ## measure again and write docs/performance.md (DATA=tools.jsonl)
	@scripts/figures.sh $(DATA)

bench-peers: ## the same, compared with other packages (downloads them; DATA=tools.jsonl)
	@scripts/bench-peers.sh $(DATA)

package: ## crate, wheel, sdist and npm tarball, into target/packages
	@scripts/package.sh

release-check: ## everything in a release that needs no key (TAG=v1.2.3: as strict as for that release)
	@scripts/release-check.sh $(TAG)

setup: ## only the set-up for the other targets
	@scripts/setup.sh

clean: ## remove what was built in this checkout; tools that are installed once per machine are kept
	@scripts/clean.sh
