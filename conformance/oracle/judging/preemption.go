package judging

import (
	"context"
	"sort"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// drawsInVain are enough to have met every equal: one of few nodes comes first in one draw of eight.
const drawsInVain = 256

// preempt dry-runs preemption on every node that evictions could help.
func (j *judge) preempt(ctx context.Context, state cycleState, pod *v1.Pod, d *diagnosis, budgets []policyv1.PodDisruptionBudget) *Preemption {
	out := &Preemption{Candidates: map[string]Candidate{}, Picked: []string{}}
	pl, statuses := j.preemptor, d.inner.NodeToStatus
	if ok, why := pl.PodEligibleToPreemptOthers(ctx, pod, statuses.Get(pod.Status.NominatedNodeName)); !ok {
		out.Ineligible = why
		return out
	}
	potential, err := statuses.NodesForStatusCode(j.fw.SnapshotSharedLister().NodeInfos(), unschedulable)
	if err != nil {
		out.Message = err.Error()
		return out
	}
	pdbs := make([]*policyv1.PodDisruptionBudget, len(budgets))
	for i := range budgets {
		pdbs[i] = &budgets[i]
	}
	var candidates []preemption.Candidate
	left := framework.NewDefaultNodeToStatus()
	if len(potential) > 0 {
		candidates, left, err = pl.Evaluator.DryRunPreemption(ctx, state, pod, potential, pdbs, 0, int32(len(potential)))
		if err != nil {
			out.Message = err.Error()
			if len(candidates) == 0 {
				return out
			}
		}
	}
	if len(candidates) == 0 {
		left.SetAbsentNodesStatus(newStatus(unresolvable, "Preemption is not helpful for scheduling"))
		out.Message = (&framework.FitError{Pod: pod, NumAllNodes: d.nodes, Diagnosis: framework.Diagnosis{NodeToStatus: left}}).Error()
		return out
	}
	for _, c := range candidates {
		victims := []string{}
		for _, p := range c.Victims().Pods {
			victims = append(victims, p.Namespace+"/"+p.Name)
		}
		out.Candidates[c.Name()] = Candidate{Victims: victims, PDBViolations: c.Victims().NumPDBViolations}
	}
	picked := map[string]bool{}
	for idle := 0; idle < drawsInVain; idle++ {
		if best := pl.Evaluator.SelectCandidate(ctx, candidates); best != nil && !picked[best.Name()] {
			picked[best.Name()] = true
			out.Picked = append(out.Picked, best.Name())
			idle = 0
		}
	}
	sort.Strings(out.Picked)
	return out
}
