#!/usr/bin/env bash
# Kubernetes' own tests of the scheduler, pointed at `topospread run scheduler`.
#   run.sh quick                   the cases of quick.txt: what CI runs; builds what they need
#   run.sh build [package…]        everything, or some of the integration tests, into build/upstream (minutes; 20 the first time)
#   run.sh e2e [focus] [skip]      the e2e specs of sig-scheduling on a cluster of kwok nodes (28 specs, 9 minutes)
#   run.sh integration [package…]  the integration tests with us as the external scheduler (filters . scoring taint preemption/misc queueing)
# SCHEDULER=kube-scheduler judges kube-scheduler itself, as the control. Needs Go, openssl and curl.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=${UPSTREAM_BIN:-$root/build/upstream}
python=${PYTHON:-$root/.venv/bin/python}
topospread=${TOPOSPREAD:-$(dirname "$python")/topospread}
port=${PORT:-15443}
live=$root/build/live
quick=$(awk 'NF && !/^#/ {print $1}' "$here/quick.txt" | uniq)

# The control plane's programs are those of `make live`.
control_plane() {
  kept live "$live" "$root"/tests/live/{go.mod,go.sum,controlplane.sh} --build "$root/tests/live/controlplane.sh" build {}
  mkdir -p "$bin"
  for program in etcd kube-apiserver kube-controller-manager kube-scheduler kubectl; do
    [ -e "$bin/$program" ] || ln -s "$live/$program" "$bin/$program"
  done
}

# The integration tests of these packages.
judges() {
  for package in "$@"; do
    kept "judge-${package//\//_}" "$bin" "$here"/{build_judge.py,external.go,requeues.go,mod/go.mod,mod/go.sum} \
      --build "$python" "$here/build_judge.py" {} "$package"
  done
}

# kept NAME OUT SOURCE… --build COMMAND…: builds are kept between runs, for all clones.
kept() {
  local name=$1 out=$2
  shift 2
  (cd "$root" && "$python" -m conformance.kept "$name" "$out" --from "$@")
}

build() {
  control_plane
  if [ $# -gt 0 ]; then
    judges "$@"
    return
  fi
  judges filters . scoring taint preemption/misc queueing
  export GOFLAGS=-mod=mod GOSUMDB=off
  cd "$here/mod"
  go test -c -ldflags "-s -w" -o "$bin/e2esched.test" ./e2esched
  (cd / && GOBIN="$bin" go install sigs.k8s.io/kwok/cmd/kwok@v0.8.0)
}

needs() {
  for program in "$@"; do
    [ -e "$bin/$program" ] || { echo "$bin/$program is missing: tests/upstream/run.sh build" >&2; exit 2; }
  done
}

e2e() {
  needs etcd kube-apiserver kube-controller-manager kwok e2esched.test kubectl
  run=$(mktemp -d)
  trap 'kill $judged 2> /dev/null || true; "$here/cluster.sh" down "$run"; rm -rf "$run"' EXIT
  judged=
  ETCD="$bin/etcd" "$here/cluster.sh" up "$bin" "$run" "$port"
  KUBECTL="$bin/kubectl" "$here/nodes.sh" "$run/kubeconfig" 3
  if [ "${SCHEDULER:-}" = kube-scheduler ]; then
    "$bin/kube-scheduler" --kubeconfig="$run/kubeconfig" --secure-port=0 --kube-api-qps=500 --kube-api-burst=1000 > "$run/scheduler.log" 2>&1 &
  else
    "$topospread" scheduler --kubeconfig "$run/kubeconfig" --secure-port 0 --kube-api-qps 500 --kube-api-burst 1000 -v 2 > "$run/scheduler.log" 2>&1 &
  fi
  judged=$!
  BIN="$bin" "$here/e2e.sh" "$run/kubeconfig" "$run/report" "$@" > "$run/e2e.log" 2>&1 || failed=1
  grep -E '^Ran |^FAIL!|^SUCCESS!|^  \[FAIL\]' "$run/e2e.log" || tail -20 "$run/e2e.log"
  if [ -n "${failed:-}" ]; then
    mkdir -p "$root/build"
    cp "$run/e2e.log" "$root/build/upstream-e2e.log"
    cp "$run/scheduler.log" "$root/build/upstream-scheduler.log"
    echo "failed: build/upstream-e2e.log, build/upstream-scheduler.log" >&2
    exit 1
  fi
}

# What the integration tests start as the scheduler.
judge_whom() {
  if [ "${SCHEDULER:-}" = kube-scheduler ]; then
    export KUBE_SCHEDULER="$bin/kube-scheduler" EXTERNAL_SCHEDULER="$here/kube-external.sh"
  else
    export EXTERNAL_SCHEDULER="$topospread run scheduler --config=\$SCHED_CONFIG --leader-elect=false --secure-port=0 --kube-api-qps=1000 -v 3 \${SCHED_FEATURE_GATES:+--feature-gates=\$SCHED_FEATURE_GATES}"
  fi
}

integration() {
  judge_whom
  for package in "$@"; do
    name=${package//\//_}
    [ "$package" = . ] && name=scheduler
    needs "$name.test" etcd
    work=$(mktemp -d)
    log=$root/build/upstream-$name.log
    only=
    [ "$package" = queueing ] && only=-test.run=TestCoreResourceEnqueue # the others there drive the queue by hand
    (cd "$work" && PATH="$bin:$PATH" "$bin/$name.test" -test.v -test.timeout "${MINUTES:-30}m" $only -test.skip /feature_gate_disabled > "$log" 2>&1) || failed=1
    rm -rf "$work"
    passed=$(grep -cE '^ *--- PASS' "$log" || true) bad=$(grep -cE '^ *--- FAIL' "$log" || true)
    own=$(grep -c 'EXTERNAL: no' "$log" || true)
    echo "$package: $passed passed, $bad failed; $own ran with Go plugins of their own and judge nothing ($log)"
    grep -E '^ *--- FAIL' "$log" || true
  done
  [ -z "${failed:-}" ]
}

case ${1:-} in
build) shift; build "$@" ;;
e2e) shift; e2e "$@" ;;
integration) shift; [ $# -gt 0 ] || set -- filters taint preemption/misc; integration "$@" ;;
quick)
  build $quick
  judge_whom
  "$python" "$here/quick.py" "$bin" "$root/build"
  ;;
*) sed -n 2,8p "$0"; exit 2 ;;
esac
