package judging

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// diagnosis is why nodes were rejected, for kube-scheduler's own sentence about it.
type diagnosis struct {
	pod     *v1.Pod
	nodes   int
	leftOut []string
	inner   framework.Diagnosis
}

func newDiagnosis(pod *v1.Pod, nodes int) *diagnosis {
	return &diagnosis{pod: pod, nodes: nodes, inner: framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}}
}

func (d *diagnosis) set(node string, status *status) { d.inner.NodeToStatus.Set(node, status) }

// everywhere: PreFilter rejects the pod as a whole.
func (d *diagnosis) everywhere(status *status, _ []nodeInfo) {
	d.inner.NodeToStatus.SetAbsentNodesStatus(status)
	d.inner.PreFilterMsg = status.Message()
}

// leaveOut: nodes that PreFilter did not name are rejected with this reason.
func (d *diagnosis) leaveOut(reason string) {
	d.leftOut = []string{reason}
	d.inner.NodeToStatus.SetAbsentNodesStatus(newStatus(unresolvable, reason))
}

func (d *diagnosis) message() string {
	return (&framework.FitError{Pod: d.pod, NumAllNodes: d.nodes, Diagnosis: d.inner}).Error()
}
