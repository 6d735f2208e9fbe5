// Karpenter says what Karpenter's scheduling simulation does with one pending pod: the node on which it counts, the zones
// of the node that it would launch, or that it finds no place. Topology and Solve are Karpenter's own, called as its
// Provisioner calls them, on a client without a server. It is built inside Karpenter's source tree, with its go.mod
// (conformance/field/peers.py). stdin: one JSON case a line; stdout: an answer a line. Among equal zones Karpenter takes
// any (the order of a Go map), so every case is asked many times and all outcomes are said.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakecr "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/test"

	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// Pool is a NodePool with one instance type, offered in its zones.
type Pool struct {
	Name   string            `json:"name"`
	Zones  []string          `json:"zones"`
	Labels map[string]string `json:"labels"`
	Taints []corev1.Taint    `json:"taints"`
}

// Case is a cluster, a pending pod and NodePools.
type Case struct {
	Nodes    []*corev1.Node `json:"nodes"`
	Pods     []*corev1.Pod  `json:"pods"`
	Incoming []*corev1.Pod  `json:"incoming"`
	Pools    []Pool         `json:"pools"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func instanceType(pool Pool) *cloudprovider.InstanceType {
	var offerings []cloudprovider.Offering
	for _, zone := range pool.Zones {
		offerings = append(offerings, cloudprovider.Offering{
			Available: true, Price: 1,
			Requirements: requirements.NewLabelRequirements(map[string]string{
				v1.CapacityTypeLabelKey: "on-demand", corev1.LabelTopologyZone: zone,
			}),
		})
	}
	return fake.NewInstanceType("type-"+pool.Name, fake.WithOfferings(offerings...), fake.WithResources(corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods: resource.MustParse("110"),
	}))
}

func nodePool(pool Pool) *v1.NodePool {
	made := test.NodePool(v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}})
	made.Spec.Template.Labels = pool.Labels
	made.Spec.Template.Spec.Taints = pool.Taints
	return made
}

func outcome(ctx context.Context, given Case) []string {
	var objects []client.Object
	for _, each := range given.Nodes {
		objects = append(objects, each.DeepCopy())
	}
	for _, each := range append(append([]*corev1.Pod{}, given.Pods...), given.Incoming...) {
		objects = append(objects, each.DeepCopy())
	}
	// A fake client refuses objects that are being deleted and have no finalizer.
	for _, each := range objects {
		if each.GetDeletionTimestamp() != nil {
			each.SetFinalizers([]string{"field/kept"})
		}
	}
	reads := fakecr.NewClientBuilder().WithObjects(objects...).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
			return []string{o.(*corev1.Pod).Spec.NodeName}
		}).Build()
	cluster := state.NewCluster(clock.RealClock{}, reads, fake.NewCloudProvider())
	for _, each := range given.Nodes {
		check(cluster.UpdateNode(ctx, each.DeepCopy()))
	}
	for _, each := range given.Pods {
		check(cluster.UpdatePod(ctx, each.DeepCopy()))
	}
	var pools []*v1.NodePool
	types := map[string][]*cloudprovider.InstanceType{}
	for _, each := range given.Pools {
		pools = append(pools, nodePool(each))
		types[each.Name] = []*cloudprovider.InstanceType{instanceType(each)}
	}
	pod := given.Incoming[0].DeepCopy()
	pods := []*corev1.Pod{pod}
	with := []scheduling.Options{
		scheduling.DisableReservedCapacityFallback, scheduling.NumConcurrentReconciles(1),
		scheduling.MinValuesPolicy(options.MinValuesPolicyStrict),
	}
	standing := cluster.DeepCopyNodes().Active()
	scheduling.NewDefaultTopologySpreadInjector(reads).Inject(ctx, pods)
	topology, err := scheduling.NewTopology(ctx, reads, cluster, standing, pools, types, pods, with...)
	check(err)
	results, err := scheduling.NewScheduler(ctx, reads, pools, cluster, standing, topology, types, nil,
		events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{}, nil, nil, with...).Solve(ctx, pods)
	check(err)
	return said(results)
}

func said(results scheduling.Results) []string {
	for _, each := range results.ExistingNodes {
		if len(each.Pods) > 0 {
			return []string{"node " + each.Node.Name}
		}
	}
	for _, each := range results.NewNodeClaims {
		if len(each.Pods) == 0 {
			continue
		}
		var out []string
		for _, offering := range each.InstanceTypeOptions[0].Offerings {
			zone := offering.Requirements.Get(corev1.LabelTopologyZone).Any()
			if each.Requirements.Get(corev1.LabelTopologyZone).Has(zone) {
				out = append(out, "new "+each.NodePoolName+"/"+zone)
			}
		}
		return out
	}
	return []string{"none"}
}

func main() {
	asked := flag.Int("times", 64, "how often every case is asked")
	flag.Parse()
	log.SetLogger(logging.NopLogger)
	ctx := options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), test.Options())
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given Case
		check(json.Unmarshal(lines.Bytes(), &given))
		seen := map[string]bool{}
		for range *asked {
			for _, each := range outcome(ctx, given) {
				seen[each] = true
			}
		}
		all := []string{}
		for each := range seen {
			all = append(all, each)
		}
		sort.Strings(all)
		check(out.Encode(all))
	}
	check(lines.Err())
}
