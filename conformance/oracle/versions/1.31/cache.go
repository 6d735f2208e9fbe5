package judging

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// imageStates is what kube-scheduler's cache, internal in these versions, knows of images once it has heard of all
// nodes: the size is what the first node said that has the name.
func imageStates(nodes []*v1.Node) map[string]*framework.ImageStateSummary {
	states := map[string]*framework.ImageStateSummary{}
	for _, n := range nodes {
		here := map[string]bool{}
		for _, im := range n.Status.Images {
			for _, name := range im.Names {
				if states[name] == nil {
					states[name] = &framework.ImageStateSummary{Size: im.SizeBytes}
				}
				if !here[name] {
					here[name] = true
					states[name].NumNodes++
				}
			}
		}
	}
	return states
}
