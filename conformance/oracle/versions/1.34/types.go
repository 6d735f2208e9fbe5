package judging

import (
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type (
	code       = fwk.Code
	cycleState = fwk.CycleState
	handle     = framework.Handle
	nodeInfo   = fwk.NodeInfo
	nodeScores = framework.NodePluginScores
	nominating = framework.NominatingInfo
	plugin     = framework.Plugin
	podInfo    = fwk.PodInfo
	status     = fwk.Status
)

const (
	unschedulable = fwk.Unschedulable
	unresolvable  = fwk.UnschedulableAndUnresolvable
)

func newState() cycleState                           { return framework.NewCycleState() }
func newStatus(code code, reasons ...string) *status { return fwk.NewStatus(code, reasons...) }
func rejects(st *status) bool                        { return st.IsRejected() }
func pluginOf(st *status) string                     { return st.Plugin() }
