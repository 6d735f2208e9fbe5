#!/usr/bin/env bash
# A real API server on loopback, and kubectl to ask it: etcd and kube-apiserver, no kubelets, no controllers.
#   controlplane.sh build BIN           build etcd, kube-apiserver and the rest from Go modules (minutes the first time)
#   controlplane.sh up BIN DIR PORT     start; writes DIR/kubeconfig; ready in a few seconds
#   controlplane.sh down DIR            stop what `up` started
# APISERVER_FLAGS holds more flags of kube-apiserver.
# Needs Go, openssl and curl. The kubeconfig has the contexts `local` (may do everything) and `reader` (nothing).
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# Killed, as nothing of theirs is read again: on a polite request the API server waits five seconds for its clients.
stop() {
  for program in apiserver etcd; do
    [ ! -f "$1/$program.pid" ] || kill -9 "$(cat "$1/$program.pid")" 2> /dev/null || true
    rm -f "$1/$program.pid"
  done
}

case ${1:-} in
build)
  mkdir -p "$2"
  out=$(cd "$2" && pwd)
  cd "$here"
  export GOFLAGS=-mod=readonly GOSUMDB=off # go.sum pins the modules
  version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
  go build -ldflags "-X k8s.io/component-base/version.gitVersion=$version" -o "$out/" \
    k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager \
    k8s.io/kubernetes/cmd/kube-scheduler k8s.io/kubernetes/cmd/kubectl
  go build -o "$out/etcd" go.etcd.io/etcd/server/v3
  ;;
up)
  bin=$(cd "$2" && pwd) dir=$3 port=$4
  mkdir -p "$dir/certs"
  stop "$dir"
  rm -rf "$dir/etcd"
  dir=$(cd "$dir" && pwd) client=$((port + 1)) peer=$((port + 2))
  openssl genrsa -out "$dir/sa.key" 2048 2> /dev/null
  openssl rsa -in "$dir/sa.key" -pubout -out "$dir/sa.pub" 2> /dev/null
  # Whose clients are trusted: nobody's, until a test writes authorities into the file; it is read again as it changes.
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=nobody -days 2 \
    -keyout /dev/null -out "$dir/clients.crt" 2> /dev/null
  admin=$(openssl rand -hex 16) reader=$(openssl rand -hex 16)
  printf '%s,admin,admin,system:masters\n%s,reader,reader\n' "$admin" "$reader" > "$dir/tokens.csv"
  "$bin/etcd" --data-dir "$dir/etcd" --listen-client-urls "http://127.0.0.1:$client" \
    --advertise-client-urls "http://127.0.0.1:$client" --listen-peer-urls "http://127.0.0.1:$peer" \
    --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "default=http://127.0.0.1:$peer" \
    --unsafe-no-fsync > "$dir/etcd.log" 2>&1 &
  echo $! > "$dir/etcd.pid"
  # TaintNodesByCondition would taint every node that no kubelet reports on.
  "$bin/kube-apiserver" --etcd-servers="http://127.0.0.1:$client" --secure-port="$port" --bind-address=127.0.0.1 \
    --advertise-address=10.0.0.1 --endpoint-reconciler-type=none --cert-dir="$dir/certs" \
    --token-auth-file="$dir/tokens.csv" --client-ca-file="$dir/clients.crt" --authorization-mode=RBAC --service-cluster-ip-range=10.0.0.0/24 \
    --service-account-issuer=https://kubernetes.default --service-account-signing-key-file="$dir/sa.key" \
    --service-account-key-file="$dir/sa.pub" --disable-admission-plugins=ServiceAccount,TaintNodesByCondition \
    ${APISERVER_FLAGS:-} \
    > "$dir/apiserver.log" 2>&1 &
  echo $! > "$dir/apiserver.pid"
  cat > "$dir/kubeconfig" << K
apiVersion: v1
kind: Config
clusters:
  - {name: local, cluster: {server: "https://127.0.0.1:$port", certificate-authority: "$dir/certs/apiserver.crt"}}
users: [{name: admin, user: {token: $admin}}, {name: reader, user: {token: $reader}}]
contexts:
  - {name: local, context: {cluster: local, user: admin}}
  - {name: reader, context: {cluster: local, user: reader}}
current-context: local
K
  for _ in $(seq 120); do
    if curl -sk -H "Authorization: Bearer $admin" "https://127.0.0.1:$port/readyz" | grep -q '^ok'; then
      echo "ready: $dir/kubeconfig"
      exit 0
    fi
    kill -0 "$(cat "$dir/apiserver.pid")" 2> /dev/null || break
    sleep 0.5
  done
  tail -5 "$dir/apiserver.log" "$dir/etcd.log" >&2
  stop "$dir"
  exit 1
  ;;
down) stop "$2" ;;
*)
  sed -n '2,7p' "$0"
  exit 2
  ;;
esac
