package judging

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// preFilter gives the nodes to look at, in the snapshot's order or as PreFilter names them, and those it leaves out.
func (j *judge) preFilter(ctx context.Context, state cycleState, pod *v1.Pod, d *diagnosis) (nodes []nodeInfo, leftOut []string, st *status) {
	left, st, narrowing := j.fw.RunPreFilterPlugins(ctx, state, pod)
	if !st.IsSuccess() {
		d.everywhere(st, j.nodeInfos())
		return nil, nil, st
	}
	if left.AllNodes() {
		return j.nodeInfos(), nil, st
	}
	d.leaveOut(fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(narrowing)))
	for _, n := range j.nodeInfos() {
		if left.NodeNames.Has(n.Node().Name) {
			nodes = append(nodes, n)
		} else if len(d.leftOut) > 0 {
			leftOut = append(leftOut, n.Node().Name)
		}
	}
	return nodes, leftOut, st
}

func (j *judge) score(ctx context.Context, state cycleState, pod *v1.Pod, feasible []nodeInfo) ([]nodeScores, *status) {
	if j.fw.HasScorePlugins() { // else none is prepared (schedule_one.go, prioritizeNodes)
		if st := j.fw.RunPreScorePlugins(ctx, state, pod, feasible); !st.IsSuccess() {
			return nil, st
		}
	}
	return j.fw.RunScorePlugins(ctx, state, pod, feasible)
}
