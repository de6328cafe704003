# The npm scripts, with the set-up that a fresh machine needs before them.

# `npm ci` installs Node 24 (package.json, optionalDependencies), so the machine's own may be older.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

installed := node_modules/.package-lock.json

.DEFAULT_GOAL := help

help: ## lists these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

options = $(if $(CLOUD),--cloud $(CLOUD)) $(if $(INSTALL),--install $(INSTALL))

demo: $(installed) ## runs the product on a real API server with a simulated cloud, and ends automatically; CLOUD=hetzner
	@npm run --silent demo -- $(options)

sandbox: $(installed) ## the same, but it runs until you stop it; INSTALL=helm installs the chart; NODES=3 has real nodes, pods and a client
	@$(if $(NODES),node sandbox/cluster/sandbox.ts --nodes $(NODES),npm run --silent sandbox --) $(options)

test: $(installed) control-plane chart-tools ## shows each promise once, in 9 to 25 minutes
	@npm run --silent test

test-slow: $(installed) control-plane rig chart-tools cert-manager cilium debian-base ## the other dialects, walks, real time, real routers
	@npm run --silent test -- --slow

test-cluster: $(installed) control-plane chart-tools ## three real nodes: kubelet, containerd, the chart as pods, a client outside; needs root
	@npm run --silent test -- --cluster

e2e: $(installed) ## runs Kubernetes' own tests of LoadBalancers on three real nodes, in about 12 minutes; needs root
	@node sandbox/e2e/main.ts

alert-recordings: $(installed) control-plane chart-tools ## makes the recordings of the alerts' tests again, by real runs
	@node test/whole/alerts/record.ts

test-control-plane: $(installed) control-plane ## keeps an API server up, so that one test starts at once
	@node test/control-planes/keep.ts

check: $(installed) ## types, lint, format, import law, documentation, spelling, dead code, generated files
	@npm run --silent check

bundle: $(installed) ## bundles the program into dist/bundle; the last line is the command line that runs it
	@npm run --silent bundle

image: $(installed) ## makes the image for amd64 and arm64 into dist/image, without a container engine
	@node packaging/make-image.ts

chaos: $(installed) ## random creates, deletes, faults and kills; options: SEED=7 STEPS=1000 CLOUD=packet
	@npm run --silent chaos -- $(if $(CLOUD),--cloud $(CLOUD)) $(if $(SEED),--seed $(SEED)) $(if $(STEPS),--steps $(STEPS))

bench: $(installed) ## measures, and prints the figures beside their goals
	@npm run --silent bench

generate: $(installed) ## writes the generated files
	@npm run --silent generate

site: $(installed) docs/site/node_modules/.package-lock.json ## builds the documentation as a web site into dist/site, checks its links and accessibility
	@npm --prefix docs/site run --silent build
	@npm --prefix docs/site run --silent axe

picture: $(installed) ## draws the terminal of the README from a run of the demo, into docs/pictures/demo.svg
	@node sandbox/demo.ts --cloud=hetzner | tee /dev/stderr | node sandbox/picture.ts > dist/demo.svg
	@mv dist/demo.svg docs/pictures/demo.svg

control-plane: $(installed) ## builds etcd, kube-apiserver, kube-controller-manager and kubectl, and prints where they are
	@npm run --silent control-plane

rig: $(installed) ## builds several versions of MetalLB and kube-proxy and gets BIRD, for the tests with real routers and packets
	@node sandbox/rig/prepare.ts

chart-tools: $(installed) ## builds helm, kube-score and promtool, for the tests of the chart
	@node sandbox/helm/build.ts
	@node sandbox/kube-score/build.ts
	@node sandbox/promtool/build.ts

cert-manager: $(installed) ## builds cert-manager, for the tests of its certificates
	@node sandbox/cert-manager/build.ts

cilium: $(installed) ## builds Cilium's LB IPAM and BGP control plane, for the tests with real routers
	@node sandbox/cilium/build.ts

debian-base: $(installed) ## makes the Debian in which a test runs the steps of the Dockerfile; needs root
	@node sandbox/rig/debian-base.ts

$(installed): package.json package-lock.json
	@npm ci
	@touch $@

docs/site/node_modules/.package-lock.json: docs/site/package.json docs/site/package-lock.json
	@npm --prefix docs/site ci
	@touch $@

.PHONY: help demo picture sandbox test test-slow test-cluster e2e alert-recordings test-control-plane check bundle image chaos bench generate site control-plane rig
.PHONY: chart-tools cert-manager cilium debian-base
