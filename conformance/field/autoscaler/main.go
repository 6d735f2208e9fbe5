// Autoscaler says what cluster-autoscaler's simulation thinks of one pending pod: which nodes that are there would take
// it, and which node groups help it. The snapshot, the plugin runner and the estimator are cluster-autoscaler's own, on a
// client without a server. It is built inside cluster-autoscaler's source tree, with its go.mod (conformance/field/peers.py).
// stdin: one JSON case a line; stdout: an answer a line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/autoscaler/cluster-autoscaler/config"
	"k8s.io/autoscaler/cluster-autoscaler/estimator"
	"k8s.io/autoscaler/cluster-autoscaler/simulator"
	"k8s.io/autoscaler/cluster-autoscaler/simulator/clustersnapshot"
	"k8s.io/autoscaler/cluster-autoscaler/simulator/clustersnapshot/predicate"
	"k8s.io/autoscaler/cluster-autoscaler/simulator/clustersnapshot/store"
	"k8s.io/autoscaler/cluster-autoscaler/simulator/framework"
	"k8s.io/autoscaler/cluster-autoscaler/utils/taints"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes/fake"
)

// Case is a cluster, a pending pod, and by name a node such as each node group makes.
type Case struct {
	Nodes    []*v1.Node          `json:"nodes"`
	Pods     []*v1.Pod           `json:"pods"`
	Incoming []*v1.Pod           `json:"incoming"`
	Groups   map[string]*v1.Node `json:"groups"`
}

// Answer lists nodes that take the pod and groups of which a new node would.
type Answer struct {
	Nodes  []string `json:"nodes"`
	Groups []string `json:"groups"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func takes(snapshot clustersnapshot.ClusterSnapshot, pod *v1.Pod, name string) bool {
	snapshot.Fork()
	defer snapshot.Revert()
	found, err := snapshot.SchedulePodOnAnyNodeMatching(pod, clustersnapshot.SchedulingOptions{
		IsNodeAcceptable: func(info *framework.NodeInfo) bool { return info.Node().Name == name },
	})
	if err != nil && err.Type() == clustersnapshot.SchedulingInternalError {
		check(err)
	}
	return found == name
}

func helps(snapshot clustersnapshot.ClusterSnapshot, pod *v1.Pod, name string, node *v1.Node) bool {
	template, err := simulator.SanitizedTemplateNodeInfoFromNodeInfo(
		framework.NewNodeInfo(node, nil), name, nil, true, taints.NewTaintConfig(config.AutoscalingOptions{}))
	if err != nil {
		check(err)
	}
	limiter := estimator.NewThresholdBasedEstimationLimiter(nil)
	estimates := estimator.NewBinpackingNodeEstimator(
		snapshot, limiter, estimator.NewDecreasingPodOrderer(), nil, nil, false)
	nodes, _ := estimates.Estimate([]estimator.PodEquivalenceGroup{{Pods: []*v1.Pod{pod}}}, template, nil)
	return nodes > 0
}

func answered(given Case) Answer {
	handle, err := framework.NewHandle(
		context.Background(), informers.NewSharedInformerFactory(clientset.NewSimpleClientset(), 0), nil, true, false)
	check(err)
	snapshot := predicate.NewPredicateSnapshot(store.NewBasicSnapshotStore(), handle, true, 1, false)
	check(snapshot.SetClusterState(given.Nodes, given.Pods, nil, nil))
	answer := Answer{Nodes: []string{}, Groups: []string{}}
	pod := given.Incoming[0]
	for _, node := range given.Nodes {
		if takes(snapshot, pod, node.Name) {
			answer.Nodes = append(answer.Nodes, node.Name)
		}
	}
	for name, node := range given.Groups {
		if helps(snapshot, pod, name, node) {
			answer.Groups = append(answer.Groups, name)
		}
	}
	sort.Strings(answer.Nodes)
	sort.Strings(answer.Groups)
	return answer
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given Case
		check(json.Unmarshal(lines.Bytes(), &given))
		check(out.Encode(answered(given)))
	}
	check(lines.Err())
}
