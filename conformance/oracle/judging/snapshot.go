package judging

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

type snapshot = internalcache.Snapshot

// newSnapshot is what kube-scheduler's own cache gives once it has heard of the nodes and pods in this order.
func newSnapshot(pods []*v1.Pod, nodes []*v1.Node) *snapshot {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	logger, cache := klog.FromContext(ctx), newCache(ctx)
	for _, n := range nodes {
		cache.AddNode(logger, n)
	}
	seen := map[types.UID]bool{"": true}
	for i, p := range pods {
		if seen[p.UID] { // the cache tells pods apart by their uid, cases need not
			p = p.DeepCopy()
			p.UID = types.UID(fmt.Sprintf("placed-%d", i))
		}
		seen[p.UID] = true
		if err := cache.AddPod(logger, p); err != nil {
			panic(err)
		}
	}
	made := internalcache.NewEmptySnapshot()
	if err := cache.UpdateSnapshot(logger, made); err != nil {
		panic(err)
	}
	return made
}

func (j *judge) nodeInfos() []nodeInfo {
	all, _ := j.snapshot.NodeInfos().List()
	return all
}
