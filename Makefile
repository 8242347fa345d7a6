# A machine with rustup, Node 20 and Python 3.10 or later needs nothing else: every target does its own set-up.

.DEFAULT_GOAL := help
.PHONY: help demo test bench setup lint clean

help: ## what can be made
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile | expand -t 14

demo: ## three real MCP servers through all functions, in three languages (ARGS=--all: a line per tool)
	@scripts/demo.sh $(ARGS)

test: ## set-up, formats, lints and every test in every language
	@scripts/test.sh

bench: ## microseconds per tool in each language (DATA=tools.jsonl: other tools than the demo's)
	@scripts/bench.sh $(DATA)

setup: ## everything the other targets need, and nothing else
	@scripts/setup.sh

lint: ## formats and lints in every language, no tests
	@scripts/test.sh lint

clean: ## what was built in this checkout; the tools installed once per machine stay
	@scripts/clean.sh
