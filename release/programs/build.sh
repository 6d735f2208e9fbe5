#!/usr/bin/env bash
# Builds actionlint, krew with its check of manifests, and BuildKit's check of Dockerfiles into BIN, pinned by go.mod and
# go.sum: build.sh BIN. Needs Go.
set -eu
[ $# = 1 ] || { sed -n 2,3p "$0"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
export GOFLAGS=-mod=readonly GOSUMDB=off # go.sum pins the modules
go build -o "$out/" ./dockerfile github.com/rhysd/actionlint/cmd/actionlint \
	sigs.k8s.io/krew/cmd/krew sigs.k8s.io/krew/cmd/validate-krew-manifest
