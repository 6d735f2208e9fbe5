package judging

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// Judge is one profile's plugins on a cluster that whoever made them keeps up to date.
type Judge struct{ inner judge }

// NewJudge asks a framework that reads the snapshot; without a preemptor nothing is preempted.
func NewJudge(fw framework.Framework, nodes *snapshot, preemptor *defaultpreemption.DefaultPreemption) *Judge {
	return &Judge{judge{fw: fw, snapshot: nodes, preemptor: preemptor}}
}

// Cycle is a scheduling cycle that looks at every node and chooses none; state is what the plugins remember of it.
func (j *Judge) Cycle(ctx context.Context, state cycleState, pod *v1.Pod, budgets []policyv1.PodDisruptionBudget) Verdict {
	return j.inner.cycle(ctx, state, pod, asked{j.inner.preemptor != nil, budgets})
}
