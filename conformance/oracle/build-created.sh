#!/usr/bin/env bash
# Build the program that stores pods: build-created.sh BIN [1.37 1.34 1.33 1.31 1.27]; each becomes created-VERSION.
# Apart from build.sh because the API server's registry brings many modules: two minutes a version, with network.
set -eu
here=$(cd "$(dirname "$0")" && pwd); mkdir -p "$1"; out=$(cd "$1" && pwd); shift
export GOFLAGS=-mod=mod GOSUMDB=off
for v in "${@:-1.37}"; do
  modules="$here/versions/$v"; [ "$v" != 1.37 ] || modules="$here"
  src=$(mktemp -d); cp "$modules"/go.mod "$modules"/go.sum "$src"; cp -r "$here/cmd/created" "$src"
  (cd "$src" && go build -o "$out/created-$v" ./created); rm -rf "$src"
  echo "built created-$v"
done
