#!/usr/bin/env bash
# Builds BIN/descheduler, pinned by go.mod and go.sum: build.sh BIN. Needs Go.
set -eu
[ $# = 1 ] || { sed -n 2p "$0"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
export GOFLAGS=-mod=mod GOSUMDB=off # some old modules are unknown to the checksum database
go build -o "$out/descheduler" .
