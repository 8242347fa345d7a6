# A machine with rustup, Node 20.19 and Python 3.10 or later needs nothing else: every target does its own set-up.

.DEFAULT_GOAL := help
.PHONY: help demo test test-core lint packages check playground devtools docs fuzz judges clients bench figures bench-peers package release-check setup clean

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 22

demo: ## three real MCP servers through all functions, in three languages (ARGS=--all: a line per tool)
	@scripts/demo.sh $(ARGS)

test: ## every test in every language, and nothing else
	@scripts/test.sh tests

test-core: ## the core's own tests: the first answer after a change there
	@cargo test --locked -p toolwire

lint: ## formats and lints in every language
	@scripts/test.sh lint

packages: ## what CI checks besides: packed crate, oldest Rust, no_std, advisories, reproducible WebAssembly
	@scripts/test.sh packages

check: ## lint, packages and test: what CI runs
	@scripts/test.sh check

playground: ## a page to try everything in, served on this machine
	@scripts/playground.sh

devtools: ## the library for the console of any page, served on this machine
	@scripts/devtools.sh

docs: ## the documentation as a site with search, served on this machine
	@scripts/docs.sh

fuzz: ## generated inputs for as long as one likes (TIME=3600: seconds a target; TARGET=sanitize: only that)
	@scripts/fuzz.sh $(or $(TIME),60) $(TARGET)

judges: ## every judge and SDK of the tests, alone (NEWEST=1: their newest releases, and what they say goes to target/judges.md)
	@scripts/judges.sh $(if $(NEWEST),newest)

clients: ## Claude Code, Codex and opencode through `toolwire relay` (1 GB)
	@scripts/clients.sh

bench: ## microseconds per tool in each language (DATA=tools.jsonl: other tools than the demo's)
	@scripts/bench.sh $(DATA)

figures: ## docs/performance.md, measured anew (DATA=tools.jsonl)
	@scripts/figures.sh $(DATA)

bench-peers: ## the same against other packages that do the like (fetches them; DATA=tools.jsonl)
	@scripts/bench-peers.sh $(DATA)

package: ## crate, wheel, sdist and npm tarball, into target/packages
	@scripts/package.sh

release-check: ## all of a release that needs no key (TAG=v1.2.3: as strict as for that release)
	@scripts/release-check.sh $(TAG)

setup: ## everything the other targets need, and nothing else
	@scripts/setup.sh

clean: ## what was built in this checkout; tools installed once per machine stay
	@scripts/clean.sh
