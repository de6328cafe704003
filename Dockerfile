# Node 24, its libraries and the bundle, and nothing else: no shell, no package manager. Build it for both architectures:
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION="$(npm pkg get version | tr -d '"')" .

# Debian 13 with Node and binutils. The digest is of the index, so it is the same for amd64 and arm64.
ARG BASE=docker.io/library/node:24-trixie@sha256:be40f6a87b9b22215ddb20da0a2320a5c6d583fe3ee3b0024d9fa4f05b40c8fd

FROM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# With the Node that package-lock.json pins and the tests run with; the image gets it too.
RUN PATH="/src/node_modules/.bin:$PATH" node packaging/make-rootfs.ts /rootfs

FROM scratch
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="eip-admission" \
  org.opencontainers.image.description="Elastic IPs for Kubernetes Services of type LoadBalancer on bare metal, reserved at admission" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
COPY --from=build /rootfs /
USER 65532:65532
WORKDIR /
# One arena of the C library for all threads: 9 MiB less.
ENV MALLOC_ARENA_MAX=1
ENTRYPOINT ["/usr/bin/node", "--optimize-for-size", "--no-maglev", "/app/eip-admission.mjs"]
CMD ["serve"]
