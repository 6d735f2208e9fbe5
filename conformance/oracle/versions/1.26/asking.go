package judging

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// preFilter fails on a node that is not there, else gives the nodes to look at, in the snapshot's order or as PreFilter names them, and none of those it leaves out.
func (j *judge) preFilter(ctx context.Context, state cycleState, pod *v1.Pod, d *diagnosis) (nodes []nodeInfo, leftOut []string, st *status) {
	left, st := j.fw.RunPreFilterPlugins(ctx, state, pod)
	if !st.IsSuccess() {
		d.everywhere(st, j.nodeInfos())
		return nil, nil, st
	}
	if left.AllNodes() {
		return j.nodeInfos(), nil, st
	}
	for name := range left.NodeNames {
		if _, err := j.snapshot.Get(name); err != nil {
			return nil, nil, framework.AsStatus(err)
		}
	}
	for _, n := range j.nodeInfos() {
		if left.NodeNames.Has(n.Node().Name) {
			nodes = append(nodes, n)
		}
	}
	return nodes, leftOut, st
}

func (j *judge) score(ctx context.Context, state cycleState, pod *v1.Pod, feasible []nodeInfo) ([]nodeScores, *status) {
	nodes := make([]*v1.Node, len(feasible))
	for i, n := range feasible {
		nodes[i] = n.Node()
	}
	if j.fw.HasScorePlugins() { // else none is prepared (schedule_one.go, prioritizeNodes)
		if st := j.fw.RunPreScorePlugins(ctx, state, pod, nodes); !st.IsSuccess() {
			return nil, st
		}
	}
	return j.fw.RunScorePlugins(ctx, state, pod, nodes)
}
