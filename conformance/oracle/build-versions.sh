#!/usr/bin/env bash
# Build the programs that judge what is stored and configured: build-versions.sh BIN [1.37 1.34 1.33 1.31 1.27]
# created-V and configured-V of each version. Apart from build.sh because the API server's registry brings many modules:
# two minutes a version, with network.
set -eu
here=$(cd "$(dirname "$0")" && pwd); mkdir -p "$1"; out=$(cd "$1" && pwd); shift
export GOFLAGS=-mod=mod GOSUMDB=off
for v in "${@:-1.37}"; do
  modules="$here/versions/$v"; [ "$v" != 1.37 ] || modules="$here"
  src=$(mktemp -d); cp "$modules"/go.mod "$modules"/go.sum "$src"; cp -r "$here/cmd/created" "$here/cmd/configured" "$src"
  (cd "$src" && go build -o "$out/created-$v" ./created && go build -o "$out/configured-$v" ./configured); rm -rf "$src"
  echo "built created-$v configured-$v"
done
