# Sluice. `make demo` shows it at work, `make test` runs all tests; each builds what it needs into bin/.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION ?= dev
LDFLAGS := -X github.com/sluice-gateway/sluice/internal/version.Version=$(VERSION)
CONTROLLER_GEN := bin/tools/controller-gen
STATICCHECK := bin/tools/staticcheck
# The packages that start a cluster; one at a time, since they share two cores.
SUITES := ./test/cluster/... ./test/apiserver/... ./test/flux/...

.PHONY: help
help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: demo
demo: STARTED := $(shell date +%s.%N)
demo: cli ## Build and start a local cluster, and show a git commit become a running gateway
	@echo; echo '$$ sluice render -f examples/quickstart'
	@bin/sluice render -f examples/quickstart
	@echo; echo 'Building what is missing:'
	@go run ./test/cmd/toolchain cluster
	@$(MAKE) --no-print-directory build
	@go build -o bin/sluice-demo ./test/cmd/demo
	@bin/sluice-demo up --started $(STARTED)

.PHONY: demo-down
demo-down: ## Stop the demo, and the cluster that it left running
	@if [ -x bin/sluice-demo ]; then bin/sluice-demo down; fi

.PHONY: test
test: verify vet lint test-unit test-suites ## All tests

.PHONY: test-unit
test-unit: tools ## Unit, golden and chart tests, without a cluster
	go test $$(go list ./... | grep -vE '/test/(cluster|apiserver|flux)(/|$$)')

.PHONY: test-suites
test-suites: tools build ## The suites on a real API server and on real Flux
	go test -count=1 -p 1 -timeout 40m $(SUITES)

.PHONY: build
build: cli ## Build both commands
	go build -ldflags '$(LDFLAGS)' -o bin/sluice-controller ./cmd/sluice-controller

.PHONY: cli
cli: ## Build the command line
	@mkdir -p bin
	go build -ldflags '$(LDFLAGS)' -o bin/sluice ./cmd/sluice

.PHONY: tools
tools: ## Build the tools and the parts of the local cluster (the first time: about 20 minutes)
	@go run ./test/cmd/toolchain

.PHONY: generate
generate: ## Generate deepcopy code and CRDs
	@go run ./test/cmd/toolchain controller-gen
	$(CONTROLLER_GEN) object:headerFile=/dev/null paths=./api/... crd:maxDescLen=400 output:crd:dir=charts/sluice/crds

.PHONY: fmt
fmt: ## Format
	gofmt -w api cmd internal test

.PHONY: vet
vet: ## Vet
	go vet ./...

.PHONY: lint
lint: ## Formatting and static checks
	@go run ./test/cmd/toolchain staticcheck
	@unformatted=$$(gofmt -l api cmd internal test); if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt: $$unformatted"; exit 1; fi
	$(STATICCHECK) -checks 'all,-ST1003' ./...

.PHONY: verify
verify: generate ## Generated files are current, module files tidy
	@git diff --exit-code --stat -- api charts/sluice/crds || { echo "generated files are not current: run make generate and commit"; exit 1; }
	go mod tidy -diff

.PHONY: clean
clean: ## Stop the demo, and remove all that was built
	@if [ -x bin/sluice-demo ]; then bin/sluice-demo down; fi
	rm -rf bin
