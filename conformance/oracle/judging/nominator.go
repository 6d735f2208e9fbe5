package judging

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// nominator knows the pending pods that preemption has promised a node.
type nominator map[string][]podInfo

func newNominator(pods []v1.Pod) nominator {
	n := nominator{}
	for i := range pods {
		// As in kube-scheduler's queue, a pod whose terms do not parse is kept without them.
		info, _ := framework.NewPodInfo(&pods[i])
		node := pods[i].Status.NominatedNodeName
		n[node] = append(n[node], info)
	}
	return n
}

func (nominator) AddNominatedPod(klog.Logger, podInfo, *nominating) {}
func (nominator) DeleteNominatedPodIfExists(*v1.Pod)                {}
func (nominator) UpdateNominatedPod(klog.Logger, *v1.Pod, podInfo)  {}
func (n nominator) NominatedPodsForNode(node string) []podInfo      { return n[node] }
