#!/usr/bin/env bash
# The demo: a shop on twelve nodes in three zones; then one zone's worth of growth that does not fit.
set -eu
cd "$(dirname "$0")"
show() {
  echo
  echo "\$ $*"
  "$@" && code=0 || code=$?
  [ "$code" -le 1 ] || exit "$code"   # 1: pods stay pending, which is what the demo shows
}
show topospread simulate --on cluster.yaml -f shop.yaml
show topospread simulate --on cluster.yaml -f shop.yaml --scale shop/deploy/checkout=16 -n shop
