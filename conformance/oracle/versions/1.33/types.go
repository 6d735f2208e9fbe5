package judging

import "k8s.io/kubernetes/pkg/scheduler/framework"

type (
	code       = framework.Code
	cycleState = *framework.CycleState
	handle     = framework.Handle
	nodeInfo   = *framework.NodeInfo
	nodeScores = framework.NodePluginScores
	nominating = framework.NominatingInfo
	plugin     = framework.Plugin
	podInfo    = *framework.PodInfo
	status     = framework.Status
)

const (
	unschedulable = framework.Unschedulable
	unresolvable  = framework.UnschedulableAndUnresolvable
)

func newState() cycleState                           { return framework.NewCycleState() }
func newStatus(code code, reasons ...string) *status { return framework.NewStatus(code, reasons...) }
func rejects(st *status) bool                        { return st.IsRejected() }
func pluginOf(st *status) string                     { return st.Plugin() }
