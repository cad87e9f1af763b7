# weir: each target sets up all that it needs on a machine that has Go.
export GOTOOLCHAIN := go1.27.3

GO      ?= go
FUZZTIME ?= 10s
SOAK     ?= 2m

.PHONY: help build demo test race soak bench bench-graph bench-timely bench-live bench-codecs bench-series bench-net fuzz lint fmt clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

build: bin/weir ## build bin/weir

bin/weir: FORCE
	$(GO) build -trimpath -o bin/weir ./cmd/weir

demo: build ## rank the world's airports; climb the ladder of one thread
	./scripts/demo.sh

test: ## all tests
	$(GO) test ./...

race: ## the tests that are fast enough, under the race detector
	$(GO) test -race -short ./...

soak: ## change a graph for SOAK, and see that memory and latencies stay as they are: out/soak
	./scripts/soak.sh $(SOAK)

bench: bench-graph bench-timely bench-live bench-codecs bench-series bench-net ## all six below, one after the other

bench-graph: ## measure the published tables of graphs again: docs/results/graph.md
	$(GO) run ./bench/graphtables

bench-timely: ## measure the dataflow beside figures of the original: docs/results/timely.md
	$(GO) run ./bench/timelytables

bench-live: ## measure answers that follow a graph beside figures of the original: docs/results/live.md
	$(GO) run ./bench/livetables

bench-codecs: ## measure the codecs of series beside the published schemes: docs/results/codecs.md
	$(GO) run ./bench/codectables

bench-series: ## measure the series store beside figures of others: docs/results/series.md
	$(GO) run ./bench/seriestables

bench-net: ## measure PageRank over shaped links, as root: docs/results/pagerank-net.md
	./bench/pagerank-net/run.sh

fuzz: ## each fuzz target for FUZZTIME
	./scripts/fuzz.sh $(FUZZTIME)

lint: ## format, vet, staticcheck, and that other platforms build
	./scripts/lint.sh

fmt: ## format
	$(GO) fmt ./...

clean: ## remove what was built
	rm -rf bin out

FORCE:
