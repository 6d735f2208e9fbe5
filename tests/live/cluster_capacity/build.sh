#!/usr/bin/env bash
# Builds cluster-capacity into BIN, pinned by go.mod and go.sum: build.sh BIN (minutes the first time). Needs Go.
set -eu
[ $# = 1 ] || { sed -n 2p "$0"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
export GOFLAGS=-mod=readonly GOSUMDB=off # go.sum pins the modules
go build -o "$out/" sigs.k8s.io/cluster-capacity/cmd/hypercc
