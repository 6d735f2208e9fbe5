#!/usr/bin/env bash
# Build the programs that judge what is stored and configured, created-V and configured-V of each version:
# build-versions.sh BIN [1.37 1.34 1.33 1.31 1.27 1.25 1.23 1.22 1.20]. Apart from build.sh because the API server's
# registry brings many modules: two minutes a version, with network.
set -eu
here=$(cd "$(dirname "$0")" && pwd); mkdir -p "$1"; out=$(cd "$1" && pwd); shift
export GOFLAGS=-mod=mod GOSUMDB=off
modules() {   # the modules of a version: those of its oracle, else all that Kubernetes is staged from
  local version=$1 folder="$here/versions/$1" release
  [ "$version" != 1.37 ] || folder="$here"
  if [ -e "$folder/go.mod" ]; then cp "$folder/go.mod" "$folder/go.sum" .; return; fi
  case $version in 1.25) release=25.16 ;; 1.23) release=23.17 ;; 1.22) release=22.17 ;; 1.20) release=20.15 ;; *) return 1 ;; esac
  printf 'module configured\n\ngo 1.16\n\nrequire k8s.io/kubernetes v1.%s\n\nreplace (\n' "$release" > go.mod
  (cd / && go mod download "k8s.io/kubernetes@v1.$release")
  grep -o '^	k8s.io/[a-z-]* => ./staging' "$(go env GOMODCACHE)/k8s.io/kubernetes@v1.$release/go.mod" |
    awk -v release="$release" '{ print "\t" $1 " => " $1 " v0." release } END { print ")" }' >> go.mod
}
for v in "${@:-1.37}"; do
  src=$(mktemp -d); cd "$src"; modules "$v"; cp -r "$here/cmd/created" "$here/cmd/configured" .
  go build -o "$out/configured-$v" ./configured; go build -o "$out/created-$v" ./created
  cd "$here"; rm -rf "$src"; echo "built what judges $v"
done
