# `make help` lists the targets.

GO            ?= go
VERSION       ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
MODULE        := github.com/operetta-dev/operetta
IMAGE         ?= ghcr.io/operetta-dev/operetta
# The newest linter that builds with the Go of go.mod. It is no dependency of
# the product, so it stands here and not there.
GOLANGCI_LINT := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
CYCLONEDX     := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
BENCHSTAT     := $(GO) run golang.org/x/perf/cmd/benchstat@latest
# The race detector needs a C compiler, which not every machine has.
RACE          := $(if $(shell command -v gcc 2>/dev/null),-race)
# What tests must reach, and how much of its statements, in percent.
COVERED       := ./hooks/... ./metacontroller/... ./operator/...
MIN_COVERAGE  := 90
# Of the tests of one package: a machine that is busy takes several times as long.
TIMEOUT       := 30m
# Packages that test nothing under -short: make unit does not link their programs.
NEVER_SHORT   := . ./internal/gotest ./internal/server/loadtest
# Tested by make load, and of the command line the tests that call needsLoad.
ELSEWHERE     := ./internal/server/loadtest
NEED_LOAD      = $(shell sed -n '/^func Test/h; /needsLoad(t)$$/{x; s/^func \(Test[A-Za-z0-9_]*\).*/\1/p;}' internal/cli/*_test.go internal/lab/commands/*_test.go)
space         := $(subst ,, )
comma         := ,

# go test, which ends with the names of the tests that failed.
GOTEST        := GO='$(GO)' $(CURDIR)/internal/gotest/gotest.sh
# Packages that have two things run at once: only there can the race detector,
# under which tests take five times as long, find anything. make cover runs it for
# tests of the hooks and of the command line that have it, too.
CONCURRENT     = $(shell grep -rlE --include='*.go' --exclude-dir=cli --exclude-dir=commands --exclude='*_test.go' '^[[:space:]]+go [a-zA-Z]' internal metacontroller deploy | xargs -n1 dirname | sort -u)
# Those and the packages whose tests do so, or that share something behind a lock.
SHARING        = $(shell grep -rlE --include='*.go' --exclude-dir=cli --exclude-dir=commands '^[[:space:]]+go [a-zA-Z]|"sync"$$|"sync/|"golang.org/x/sync' internal metacontroller deploy \
                   | xargs -n1 dirname | sort -u)
# The parallel tests of the former hardly do more than wait, so that more of them
# run at once than there may be processors.
# COMPUTES stands before what runs pure functions again and again: a third of its
# time is the garbage collector's otherwise, and nothing there measures memory.
COMPUTES      := GOGC=400

BENCHMARKS    := $(GO) test ./hooks/... ./internal/server -run '^$$' -bench .

# How many Metacontrollers deploy/overlays/sharded has.
SHARDS        := 2
# The types are below hooks/: to look there alone is faster.
GENERATE      := $(GO) run ./cmd/operetta generate --packages ./hooks/... --shards $(SHARDS)

# Metacontroller's examples, a module of its own.
GENERATE_EXAMPLES := cd examples && $(GO) run ./cmd/examples generate --packages ./hooks/... --prefix examples- --namespace examples --service examples

# The operators that `make unit KIND=...` can test alone.
ALL_KINDS     := $(filter-out testdata invariants,$(patsubst hooks/%/,%,$(wildcard hooks/*/)))

.DEFAULT_GOAL := help

##@ To see it work

.PHONY: demo
demo: build ## Play every sample to Ready, and a story of each kind, over HTTP, without a cluster
	@for sample in deploy/samples/*.yaml deploy/samples/seed/*.yaml; do \
	  case $$sample in */dataservice.yaml) flags=--delete;; *) flags=;; esac; \
	  $(call play,$$sample $$flags) || exit 1; \
	done
	@$(call play,deploy/samples/modelbox.yaml --vanish Service/sentiment)
	@$(call play,deploy/samples/myjob.yaml --fail Pod/hello)
	@$(call play,deploy/samples/podset.yaml --evict Pod/cache-1)
	@$(call play,deploy/samples/podbuggertool.yaml --delete)
	@sed 's/revision: master/revision: v2/' deploy/samples/build.yaml > bin/build-v2.yaml
	@$(call play,deploy/samples/build.yaml bin/build-v2.yaml)

# What is played, under a headline that can be typed.
play = { echo "== operetta simulate --over-http $(1)"; bin/operetta simulate --over-http $(1) && echo; }

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ To build

.PHONY: build
build: ## Build bin/operetta, and bin/operetta-server, which is the one that the image has
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X $(MODULE)/internal/cli.version=$(VERSION)" -o bin/ ./cmd/...
	@cp deploy/kubectl-operetta bin/

.PHONY: image
image: ## Build the container image for this machine's platform (needs Docker)
	docker build --build-arg VERSION=$(VERSION) --tag $(IMAGE):$(VERSION) .

RELEASE        = (cd release && $(GO) build -o ../bin/release .) && bin/release
# Evaluated only where a recipe asks.
REVISION       = $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
COMMITTED      = $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

.PHONY: image-oci
image-oci: ## Build the image of all platforms without Docker: dist/image, and a tar for each
	@$(RELEASE) image --go $(GO) --name $(IMAGE) --version $(VERSION) --revision $(REVISION) --created $(or $(SOURCE_DATE_EPOCH),$(COMMITTED))

.PHONY: dist
dist: ## Write deploy/ as one file, of KINDS=build,podset only if they are given, and the Helm chart, to dist/
	@$(RELEASE) install --kinds '$(if $(filter command,$(origin KINDS)),$(KINDS))' --name '$(call given,IMAGE)' --version '$(call given,VERSION)'

# The value of a variable where somebody has set it, and nothing where it is the default above.
given = $(if $(filter file,$(origin $(1))),,$($(1)))

.PHONY: release
release: ## Write all of a release to dist/: image, manifests, chart, SBOMs, notes, checksums; VERSION=v0.2.0
	@test -z "$$(git status --porcelain)" || { echo "commit what has changed first: a release is made of a commit"; exit 1; }
	@echo '$(VERSION)' | grep -qE '^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$$' || { echo "$(VERSION) is no version of a release: write VERSION=v0.2.0"; exit 1; }
	@rm -rf dist && mkdir dist
	@release/notes.sh '$(VERSION)' $(TAGGED) > dist/release-notes.md
	@$(MAKE) --no-print-directory dist image-oci VERSION='$(VERSION)' IMAGE='$(IMAGE)'
	@GOBIN=$(CURDIR)/bin $(GO) install $(CYCLONEDX)
	@for arch in amd64 arm64; do tar -xOf dist/image-linux-$$arch.tar --wildcards '*.tar.gz' | tar -xzO operetta > bin/released && \
	  bin/cyclonedx-gomod bin -json -noserial -notimestamp -std -version '$(VERSION)' -output dist/sbom-linux-$$arch.cdx.json bin/released || exit 1; done
	@cd dist && sha256sum $$(find . -maxdepth 1 -type f ! -name SHA256SUMS | sed 's|^./||' | LC_ALL=C sort) > SHA256SUMS && cat SHA256SUMS

.PHONY: release-notes
release-notes: ## Print the notes of VERSION=v0.2.0 from the CHANGELOG
	@release/notes.sh '$(VERSION)' $(TAGGED)

# Where the commit has the version as its tag.
TAGGED         = $(if $(filter $(VERSION),$(shell git tag --points-at HEAD 2>/dev/null)),--tagged)

.PHONY: publish
publish: push ## Upload what release has written: the image to its registry, the files to GitHub (needs gh)
	@test -z "$$GITHUB_OUTPUT" || echo "digest=$$(sed -n 's/.*"digest": *"\(sha256:[0-9a-f]*\)".*/\1/p' dist/image/index.json)" >> "$$GITHUB_OUTPUT"
	gh release create '$(VERSION)' --verify-tag --title 'Operetta $(VERSION)' --notes-file dist/release-notes.md $$(find dist -maxdepth 1 -type f)

.PHONY: pin-images
pin-images: ## Ask the registries for the digests of the tools' images, and write them to deploy/
	@$(RELEASE) pin

.PHONY: push
push: ## Upload what image-oci has built to a registry, as IMAGE:VERSION
	@$(RELEASE) push --name $(IMAGE) --version $(VERSION)

.PHONY: cluster
cluster: build ## Run a real control plane with Operetta on this machine, without Docker
	@cd e2e && $(GO) build -o ../bin/e2e-cluster ./cmd/cluster && cmd/cluster/cluster.sh up

.PHONY: cluster-down
cluster-down: ## Take that cluster away
	@e2e/cmd/cluster/cluster.sh down

##@ To test

.PHONY: test
test: verify lint cover test-examples load test-release e2e ## Everything that must pass

.PHONY: unit
# Not one from the environment, where it may mean the program kind.
ifeq ($(origin KIND),command line)
unit:
	$(if $(filter $(KIND),$(ALL_KINDS)),,$(error there is no kind $(KIND); KIND is one of $(ALL_KINDS)))
	@OPERETTA_TEST_KIND=$(KIND) $(COMPUTES) $(GOTEST) -short ./hooks/$(KIND) ./hooks
else
unit: ## The fast inner loop: tests of the product, no cluster; KIND=podset tests one kind
	@$(MAKE) -j2 --keep-going --no-print-directory $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) unit-race unit-others unit-examples
endif

# Those that mostly wait and those that mostly compute, at the same time. What waits
# among the latter begins, for at the end nothing would compute meanwhile.
WAITS         := ./internal/cli ./internal/lab/commands
.PHONY: unit-race unit-others unit-examples
unit-race:
	@$(GOTEST) -short $(RACE) -parallel 4 $(addprefix ./,$(CONCURRENT))
unit-others:
	@$(COMPUTES) $(GOTEST) -short $(WAITS) $$($(GO) list -e ./... | sed 's|^$(MODULE)|.|' | grep -vxF "$$(printf '%s\n' $(addprefix ./,$(CONCURRENT)) $(WAITS) $(NEVER_SHORT))")
unit-examples:
	@cd examples && $(COMPUTES) $(GOTEST) -short ./...

.PHONY: test-examples
test-examples: ## Test Metacontroller's examples, written with Operetta
	@cd examples && $(COMPUTES) $(GOTEST) -timeout $(TIMEOUT) ./...

.PHONY: load
load: ## Send the built binary more than it can take, within the memory limit that deploy/ sets
	@OPERETTA_TEST_LOAD=1 $(GOTEST) -count=1 -timeout $(TIMEOUT) ./internal/server/loadtest
	@OPERETTA_TEST_LOAD=1 $(GOTEST) -count=1 -timeout $(TIMEOUT) -run '^($(subst $(space),|,$(strip $(NEED_LOAD))))$$' ./internal/cli ./internal/lab/commands

.PHONY: cover
cover: ## The whole of the tests that need no cluster; those of the hooks and the protocol must reach enough of both
	@$(MAKE) -j2 --keep-going --no-print-directory $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) cover-race cover-others
	@$(GOTEST) -timeout $(TIMEOUT) $(RACE) -parallel 4 ./internal/server
	@$(GO) tool cover -func=coverage.out | awk -v least=$(MIN_COVERAGE) '/^total:/ { \
	  covered = $$3 + 0; printf "coverage of hooks/, metacontroller/ and operator/: %.1f%% of statements, at least %d%% wanted\n", covered, least; \
	  exit covered < least }'

# At the same time, for the tests of few packages run on all processors. Those of the
# server come alone: they have deadlines, as what they test has.
.PHONY: cover-race cover-others
cover-race:
	@$(GOTEST) -timeout $(TIMEOUT) $(RACE) $(addprefix ./,$(filter-out metacontroller internal/server,$(SHARING)))
	@$(GOTEST) -short $(RACE) ./metacontroller
	@$(GOTEST) -short $(RACE) -run '^TestOperators$$/./^calls_share_nothing$$' ./hooks
	@$(GOTEST) -short $(RACE) -run '^(TestServe.*|TestSignal.*|TestSecondSignal.*)$$' ./internal/cli
cover-others:
	@printed=$$($(BENCHMARKS) -benchtime 1x 2>&1) || { echo "$$printed" | grep -v '^Benchmark.*op$$'; exit 1; }
	@$(COMPUTES) $(GOTEST) -timeout $(TIMEOUT) -coverpkg=$(subst $(space),$(comma),$(COVERED)) -coverprofile=coverage.out $(COVERED)
	@$(COMPUTES) $(GOTEST) -timeout $(TIMEOUT) $$($(GO) list -e ./... | grep -vxF "$$($(GO) list -e $(COVERED) $(addprefix ./,$(SHARING)) $(ELSEWHERE))")

.PHONY: test-release
test-release: ## Build the image twice, and compare what is released with deploy/
	@cd release && $(GOTEST) -count=1 -timeout $(TIMEOUT) ./...

.PHONY: soak
soak: ## Send the built binary requests of all kinds for TIME=30m, and look whether memory, goroutines and file descriptors grow; RACES=1 looks for races
	@OPERETTA_TEST_LOAD=1 OPERETTA_TEST_SOAK=$(or $(TIME),30m) OPERETTA_TEST_RACES=$(RACES) $(GO) test -count=1 -timeout 24h -v -run '^TestSoak$$' ./internal/server/loadtest

.PHONY: thorough
thorough: ## The tests of the hooks, the protocol and the load with every repetition, for half an hour
	@OPERETTA_TEST_THOROUGH=1 OPERETTA_TEST_LOAD=1 $(GOTEST) -count=1 -timeout $(TIMEOUT) ./internal/server/loadtest
	@OPERETTA_TEST_THOROUGH=1 $(COMPUTES) $(GOTEST) -timeout 2h $(COVERED)

.PHONY: lint
lint: ## Lint, with the rules that keep hooks pure
	$(GOLANGCI_LINT) run --allow-parallel-runners ./...
	cd e2e && $(GOLANGCI_LINT) run --allow-parallel-runners --config ../.golangci.yml ./...
	cd e2e/defaults && $(GOLANGCI_LINT) run --allow-parallel-runners --config ../../.golangci.yml ./...
	cd e2e/native && $(GOLANGCI_LINT) run --allow-parallel-runners --config ../../.golangci.yml ./...
	cd examples && $(GOLANGCI_LINT) run --allow-parallel-runners --config ../.golangci.yml ./...
	cd release && $(GOLANGCI_LINT) run --allow-parallel-runners --config ../.golangci.yml ./...
	cd web && $(GOLANGCI_LINT) run --allow-parallel-runners --config ../.golangci.yml . ./browser

.PHONY: e2e
# The tests of ./live take longest, and wait most of the time: they run beside all others, but
# for as many as those leave time for, which come at the end of those.
AFTERWARDS    := ^(TestRotation|TestUninstall)$$
E2E_TIMEOUT    = $(if $(OPERETTA_TEST_THOROUGH),4h,$(TIMEOUT))
e2e: page-tools ## Test against a real API server; the first time it is built, for minutes
	@failed=; printed=$$(mktemp); \
	(cd e2e/defaults && $(GOTEST) -count=1 ./...) || failed=1; \
	(cd e2e && $(GO) run ./cmd/cluster build) || failed=1; \
	(cd e2e && $(GOTEST) -count=1 -timeout $(E2E_TIMEOUT) -skip '$(AFTERWARDS)' ./live) > $$printed 2>&1 & live=$$!; \
	(cd e2e && $(GOTEST) -count=1 -p=1 -timeout $(E2E_TIMEOUT) $$($(GO) list ./... | grep -v '/live$$')) || failed=1; \
	(cd e2e && $(GOTEST) -count=1 -timeout $(E2E_TIMEOUT) -run '$(AFTERWARDS)' ./live) || failed=1; \
	wait $$live || failed=1; \
	cat $$printed; rm -f $$printed; \
	(cd web && $(GOTEST) -count=1 -p=1 ./...) || failed=1; \
	test -z "$$failed"

.PHONY: explore
explore: build ## Play schedules with late caches, lost writes, edits and faults for TIME=10m, from SEED on
	$(COMPUTES) bin/operetta explore hooks/testdata/explore/*.yaml deploy/samples/*.yaml --time $(or $(TIME),10m) --seed $(or $(SEED),$(shell date +%s))

.PHONY: fuzz
fuzz: ## Fuzz the hooks of every operator, FUZZTIME=30s each, and the server's endpoints
	@for kind in $(ALL_KINDS); do \
	    echo "== $$kind"; OPERETTA_TEST_KIND=$$kind OPERETTA_TEST_THOROUGH=1 \
	    $(GO) test ./hooks -run '^$$' -fuzz '^FuzzHooks$$' -fuzztime $(or $(FUZZTIME),30s) || exit 1; \
	done
	@$(GO) test ./hooks -run '^$$' -fuzz '^FuzzEndpoints$$' -fuzztime $(or $(FUZZTIME),30s)

.PHONY: bench
ifdef BASE
bench:
	@mkdir -p bin
	$(BENCHMARKS) -count $(or $(COUNT),6) | tee bin/bench.new
	@rm -rf bin/base && git worktree add --force --detach bin/base $(BASE) >/dev/null
	@(cd bin/base && $(BENCHMARKS) -count $(or $(COUNT),6)) > bin/bench.old; \
	  status=$$?; git worktree remove --force bin/base; exit $$status
	$(BENCHSTAT) bin/bench.old bin/bench.new
else
bench: ## Measure the program beside a server that does next to nothing; KEEP=1 writes docs/bench.txt, BASE=<revision> compares the Go benchmarks instead
	@mkdir -p bin
	@OPERETTA_TEST_BENCH=$(CURDIR)/bin/bench.txt $(GO) test -count=1 -timeout $(TIMEOUT) -run '^TestBench$$' ./internal/bench -benchtime=150ms -rounds=$(or $(ROUNDS),7)
	@cat bin/bench.txt
	$(call keep,bench)
endif

# Takes what was printed into the files that are committed.
keep = $(if $(KEEP),@$(GO) test -count=1 -run '^TestPage$$' ./internal/bench -keep=$(CURDIR)/bin/$(1).txt)

.PHONY: bench-cluster
bench-cluster: ## Measure COUNT=1000 custom resources, and a fifth of them, on a real control plane, beside an operator of controller-runtime, in half an hour; KEEP=1 writes docs/bench-cluster.txt
	@mkdir -p bin && rm -f bin/bench-cluster.txt
	@cd e2e && OPERETTA_TEST_BENCH=$(CURDIR)/bin/bench-cluster.txt OPERETTA_TEST_COUNT=$(or $(COUNT),1000) $(GO) test -count=1 -timeout 1h -run '^TestBench$$' ./live
	@cd e2e && OPERETTA_TEST_CRDCOST=1 $(GO) test -count=1 -timeout 1h -v -run '^TestCRDs' ./crdcost | grep -o 'CRDs: .*' | sed '1i\\' >> $(CURDIR)/bin/bench-cluster.txt
	@cat bin/bench-cluster.txt
	$(call keep,bench-cluster)

.PHONY: bench-calls
bench-calls: ## Count the calls of the hooks in the life of one ModelBox, by cause; KEEP=1 as above
	@mkdir -p bin && rm -f bin/bench-calls.txt
	@cd e2e && OPERETTA_TEST_BENCH=$(CURDIR)/bin/bench-calls.txt $(GO) test -count=1 -timeout 1h -run '^TestCalls$$' ./live
	@cat bin/bench-calls.txt
	$(call keep,bench-calls)

.PHONY: bench-writes
bench-writes: ## Measure what the rules of the CRDs cost a write of a status or spec; CRDS=<folder> takes other CRDs than deploy/crds
	@cd e2e && OPERETTA_TEST_CRDCOST=1 OPERETTA_TEST_CRDS=$(abspath $(CRDS)) $(GO) test -count=1 -timeout 1h -v -run '^TestAWrite' ./crdcost | sed -n 's/.*\(writes: .*\)/\1/p'

.PHONY: bench-requests
bench-requests: ## Record what make bench sends, on a real control plane
	@cd e2e && OPERETTA_TEST_REQUESTS=$(CURDIR)/internal/bench/testdata $(GO) test -count=1 -timeout $(TIMEOUT) -run '^TestRequests$$' ./live

##@ To change it

.PHONY: generate
generate: ## Write the CRDs, CompositeControllers, RBAC, the overlay of SHARDS=2 and the tables of README and CONTRIBUTING
	$(GENERATE)
	$(GENERATE_EXAMPLES)

.PHONY: verify
verify: ## Fail when what is generated, formatted or tidied differs from what is committed
	$(GENERATE) --check
	$(GENERATE_EXAMPLES) --check
	@unformatted="$$(gofmt -l $$(git ls-files "*.go"))"; test -z "$$unformatted" || { echo "run gofmt -w on: $$unformatted"; exit 1; }
	@large="$$(git ls-files -z | xargs -0 -r -I{} find {} -maxdepth 0 -size +512k 2>/dev/null)"; test -z "$$large" || { echo "no file of over 512 KiB belongs here: $$large"; exit 1; }
	$(GO) mod tidy -diff
	cd examples && $(GO) mod tidy -diff
	cd e2e && $(GO) mod tidy -diff
	cd e2e/kubernetes && $(GO) mod tidy -diff
	cd e2e/native && $(GO) mod tidy -diff
	cd e2e/defaults && $(GO) mod tidy -diff
	cd e2e/kwok && $(GO) mod tidy -diff
	cd release && $(GO) mod tidy -diff
	cd web && $(GO) mod tidy -diff
	@awk '/=>/ {next} {sub(/^require /, "")} $$2 !~ /^v[0-9]/ {next} \
	  FILENAME == "go.mod" {root[$$1] = $$2; next} \
	  !/ indirect$$/ && $$1 in root && root[$$1] != $$2 {print FILENAME ": " $$1 " " $$2 " is " root[$$1] " in go.mod: require that"; bad = 1} \
	  END {exit bad}' go.mod $$(git ls-files '*/go.mod')

.PHONY: page
page: page-tools ## Build the page of operetta play from web/, and take the pictures of README.md and docs/ (needs npm and Chromium)
	cd web && $(GO) run . ../internal/lab/page/page
	cd web && $(GO) test -count=1 ./browser -run '^TestPicture' -update

# What builds the page, from package-lock.json, and a browser to look at it. Where a machine cannot
# have them, tests that need them say so.
.PHONY: page-tools
page-tools:
	@if ! command -v npm >/dev/null; then echo "there is no npm: the page is not built again"; \
	elif ! (cd web && npm ci --silent --no-audit --no-fund); then echo "npm could not install what web/package-lock.json has"; fi
	@for browser in chromium-headless-shell chromium chromium-browser google-chrome; do ! command -v $$browser >/dev/null || exit 0; done; \
	{ test "$$(id -u)" = 0 && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends chromium-headless-shell fonts-dejavu-core >/dev/null; } || \
	echo "no browser could be installed: nothing walks through the page"

.PHONY: golden
golden: ## Rewrite the expected outputs below testdata; read the diff
	$(GO) test ./hooks -run '^TestOperators$$/./^goldens$$' -update
	cd examples && $(GO) test ./hooks -run '^TestOperators$$/./^goldens$$' -update
	$(GO) test ./internal/lab/commands -run '^TestGoldens$$' -update
	@git --no-pager diff --stat -- testdata examples/testdata internal/lab/commands/testdata

.PHONY: clean
clean: ## Remove what was built here
	rm -rf bin dist coverage.out
