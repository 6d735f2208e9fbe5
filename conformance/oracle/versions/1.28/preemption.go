package judging

import (
	"context"
	"sort"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// drawsInVain are enough to have met every equal: one of few nodes comes first in one draw of eight.
const drawsInVain = 256

// preempt dry-runs preemption on every node that evictions could help.
func (j *judge) preempt(ctx context.Context, state cycleState, pod *v1.Pod, d *diagnosis, budgets []policyv1.PodDisruptionBudget) *Preemption {
	out := &Preemption{Candidates: map[string]Candidate{}, Picked: []string{}}
	pl, statuses := j.preemptor, d.inner.NodeToStatusMap
	if ok, why := pl.PodEligibleToPreemptOthers(pod, statuses[pod.Status.NominatedNodeName]); !ok {
		out.Ineligible = why
		return out
	}
	evaluator := preemption.Evaluator{PluginName: pl.Name(), Handler: j.fw, State: state, Interface: pl}
	potential, left := []nodeInfo{}, framework.NodeToStatusMap{}
	for _, n := range j.nodeInfos() {
		st, known := statuses[n.Node().Name]
		if st.Code() == unschedulable {
			potential = append(potential, n)
		} else if !known || st.Code() == unresolvable {
			left[n.Node().Name] = newStatus(unresolvable, "Preemption is not helpful for scheduling")
		}
	}
	pdbs := make([]*policyv1.PodDisruptionBudget, len(budgets))
	for i := range budgets {
		pdbs[i] = &budgets[i]
	}
	var candidates []preemption.Candidate
	if len(potential) > 0 {
		found, tried, err := evaluator.DryRunPreemption(ctx, pod, potential, pdbs, 0, int32(len(potential)))
		if err != nil {
			out.Message = err.Error()
			if len(found) == 0 {
				return out
			}
		}
		candidates = found
		for name, st := range tried {
			left[name] = st
		}
	}
	if len(candidates) == 0 {
		out.Message = (&framework.FitError{Pod: pod, NumAllNodes: len(left), Diagnosis: framework.Diagnosis{NodeToStatusMap: left}}).Error()
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
		if best := evaluator.SelectCandidate(klog.FromContext(ctx), candidates); best != nil && !picked[best.Name()] {
			picked[best.Name()] = true
			out.Picked = append(out.Picked, best.Name())
			idle = 0
		}
	}
	sort.Strings(out.Picked)
	return out
}
