package judging

import (
	"context"
	"fmt"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// world is a case's cluster, and a judge for each profile that is in use; what is bound rebuilds the judges.
type world struct {
	apiVersion string
	client     *fake.Clientset
	factory    informers.SharedInformerFactory
	nodes      []*v1.Node
	pods       []*v1.Pod
	nominated  []v1.Pod
	stop       chan struct{}
	judges     []*judge
}

// KubeVersion is the minor version of the modules this is built on (-ldflags "-X topospread.dev/oracle/judging.KubeVersion=1.35").
var KubeVersion = "1.37"

// Evaluate judges the incoming pods of a case.
func Evaluate(ctx context.Context, c *Case, timing bool) (res Result) {
	res.Name = c.Name
	defer func() {
		if r := recover(); r != nil {
			res.Error = fmt.Sprintf("panic: %v", r)
		}
	}()
	if c.KubeVersion != "" && c.KubeVersion != KubeVersion {
		res.Error = fmt.Sprintf("this oracle is Kubernetes %s, the case is about %s", KubeVersion, c.KubeVersion)
		return
	}
	restore, err := SetGates(c.FeatureGates)
	if err != nil {
		res.Error = err.Error()
		return
	}
	defer restore()
	cfg, err := LoadConfig(c.Config)
	if err != nil {
		res.Error = err.Error()
		return
	}
	profiles := cfg.Profiles
	if !c.BySchedulerName {
		profiles = profiles[:1]
	}
	w := &world{apiVersion: cfg.TypeMeta.APIVersion, client: fake.NewSimpleClientset(c.Objects()...), pods: c.Placed()}
	w.factory = informers.NewSharedInformerFactory(w.client, 0)
	for i := range c.Nodes {
		w.nodes = append(w.nodes, &c.Nodes[i])
	}
	w.nominated = c.Nominated
	w.stop = make(chan struct{})
	defer close(w.stop)
	// VolumeBinding's caches fill from event handlers, which no sync call waits for.
	settle := func() {
		if len(c.PersistentVolumes)+len(c.PersistentVolumeClaims) > 0 {
			time.Sleep(30 * time.Millisecond)
		}
	}
	if err := w.build(ctx, profiles); err != nil {
		res.Error = err.Error()
		return
	}
	w.factory.Start(w.stop)
	w.factory.WaitForCacheSync(w.stop)
	settle()

	start := time.Now()
	for i := range c.Incoming {
		pod := &c.Incoming[i]
		v := w.judgeOf(pod, profiles).cycle(ctx, newState(), pod, c.asked())
		chosen := ""
		if len(c.Follow) > i {
			chosen = c.Follow[i]
		} else if c.Sequential && len(v.Best) > 0 {
			chosen = v.Best[0]
		}
		if chosen != "" {
			v.Chosen = chosen
			bound := pod.DeepCopy()
			bound.Spec.NodeName = chosen
			w.pods = append(w.pods, bound)
			if err := w.build(ctx, profiles); err != nil {
				v.Error = err.Error()
			}
			settle()
		}
		res.Verdicts = append(res.Verdicts, v)
	}
	if timing {
		res.Seconds = time.Since(start).Seconds()
	}
	return
}

// build makes every profile's plugins anew, on the pods as they now stand.
func (w *world) build(ctx context.Context, profiles []config.KubeSchedulerProfile) error {
	w.judges = nil
	for _, profile := range profiles {
		j, err := newJudge(ctx, w, WithoutClaims(profile))
		if err != nil {
			return err
		}
		w.judges = append(w.judges, j)
	}
	return nil
}

// judgeOf is the profile that the pod names, the first where there is none of the name.
func (w *world) judgeOf(pod *v1.Pod, profiles []config.KubeSchedulerProfile) *judge {
	for i, profile := range profiles {
		if profile.SchedulerName == pod.Spec.SchedulerName {
			return w.judges[i]
		}
	}
	return w.judges[0]
}

// asked is what a cycle is asked besides the nodes.
type asked struct {
	preempt bool
	budgets []policyv1.PodDisruptionBudget
}

func (c *Case) asked() asked { return asked{c.Preempt, c.PodDisruptionBudgets} }

// cycle is a scheduling cycle that looks at every node and chooses none.
func (j *judge) cycle(ctx context.Context, state cycleState, pod *v1.Pod, asked asked) (v Verdict) {
	v.Pod = pod.Namespace + "/" + pod.Name
	v.Feasible = []string{}
	v.Rejected = map[string]NodeVerdict{}
	all := j.nodeInfos()
	if len(all) == 0 {
		v.Message = "no nodes available to schedule pods"
		return
	}
	diagnosis := newDiagnosis(pod, len(all))
	nodes, leftOut, st := j.preFilter(ctx, state, pod, diagnosis)
	if !st.IsSuccess() {
		if !rejects(st) {
			v.Error = st.AsError().Error()
			return
		}
		for _, n := range all {
			v.Rejected[n.Node().Name] = NodeVerdict{Code: st.Code().String(), Plugin: pluginOf(st), Reasons: st.Reasons()}
		}
		v.Message = diagnosis.message()
		return
	}
	for _, name := range leftOut {
		v.Rejected[name] = NodeVerdict{Code: "UnschedulableAndUnresolvable", Plugin: "PreFilterResult", Reasons: diagnosis.leftOut}
	}
	feasible := []nodeInfo{}
	for _, n := range nodes {
		st := j.fw.RunFilterPluginsWithNominatedPods(ctx, state, pod, n)
		if st.IsSuccess() {
			feasible = append(feasible, n)
			v.Feasible = append(v.Feasible, n.Node().Name)
			continue
		}
		if !rejects(st) {
			v.Error = st.AsError().Error()
			return
		}
		diagnosis.set(n.Node().Name, st)
		v.Rejected[n.Node().Name] = NodeVerdict{Code: st.Code().String(), Plugin: pluginOf(st), Reasons: st.Reasons()}
	}
	sort.Strings(v.Feasible)
	if len(feasible) == 0 {
		if asked.preempt && j.fw.HasPostFilterPlugins() {
			v.Preemption = j.preempt(ctx, state, pod, diagnosis, asked.budgets)
		}
		v.Message = diagnosis.message()
		return
	}
	scores, st := j.score(ctx, state, pod, feasible)
	if !st.IsSuccess() {
		v.Error = st.AsError().Error()
		return
	}
	v.Total = map[string]int64{}
	v.Scores = map[string]map[string]int64{}
	best := int64(-1 << 62)
	for _, s := range scores {
		v.Total[s.Name] = s.TotalScore
		v.Scores[s.Name] = map[string]int64{}
		for _, p := range s.Scores {
			v.Scores[s.Name][p.Name] = p.Score
		}
		best = max(best, s.TotalScore)
	}
	for _, s := range scores {
		if s.TotalScore == best {
			v.Best = append(v.Best, s.Name)
		}
	}
	sort.Strings(v.Best)
	return
}
