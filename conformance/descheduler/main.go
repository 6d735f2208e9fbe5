// Descheduler says which pods RemovePodsViolatingTopologySpreadConstraint evicts: the plugin itself, on a client without
// a server, as its own tests run it. stdin: one JSON case per line; stdout: the names of the evicted pods, as a JSON
// list per line, in their order.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	core "k8s.io/client-go/testing"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/defaultevictor"
	spread "sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint"
	frameworktesting "sigs.k8s.io/descheduler/pkg/framework/testing"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"
)

// Case is a cluster; soft: balance ScheduleAnyway, too.
type Case struct {
	Nodes      []*v1.Node      `json:"nodes"`
	Pods       []*v1.Pod       `json:"pods"`
	Namespaces []*v1.Namespace `json:"namespaces"`
	Soft       bool            `json:"soft"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func evicted(given Case) []string {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var objects []runtime.Object
	for _, each := range given.Nodes {
		objects = append(objects, each)
	}
	for _, each := range given.Pods {
		objects = append(objects, each)
	}
	for _, each := range given.Namespaces {
		objects = append(objects, each)
	}
	client := fake.NewSimpleClientset(objects...)
	gone := []string{}
	client.PrependReactor("create", "pods", func(action core.Action) (bool, runtime.Object, error) {
		if create, ok := action.(core.CreateActionImpl); ok && action.GetSubresource() == "eviction" {
			if eviction, ok := create.Object.(*policyv1.Eviction); ok {
				gone = append(gone, eviction.GetName())
			}
		}
		return false, nil, nil
	})
	sorted := func(pods []*v1.Pod) {
		sort.Slice(pods, func(i, j int) bool { return pods[i].Name < pods[j].Name })
	}
	handle, _, err := frameworktesting.InitFrameworkHandle(ctx, client, nil, defaultevictor.DefaultEvictorArgs{NodeFit: true}, sorted)
	check(err)
	args := &spread.RemovePodsViolatingTopologySpreadConstraintArgs{TypeMeta: metav1.TypeMeta{}}
	if given.Soft {
		args.Constraints = []v1.UnsatisfiableConstraintAction{v1.DoNotSchedule, v1.ScheduleAnyway}
	}
	spread.SetDefaults_RemovePodsViolatingTopologySpreadConstraintArgs(args)
	plugin, err := spread.New(ctx, args, handle)
	check(err)
	plugin.(frameworktypes.BalancePlugin).Balance(ctx, given.Nodes)
	return gone
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given Case
		check(json.Unmarshal(lines.Bytes(), &given))
		check(out.Encode(evicted(given)))
	}
	check(lines.Err())
}
