// Sampling: which nodes kube-scheduler looks at, pod after pod, on its own cache, snapshot and SchedulePod.
// stdin: one JSON case per line, in the oracle's form; stdout: one JSON answer per line. One worker.
//
// A pod with feasible nodes is bound to the best of them that sorts first by name, so that two programs go the same way.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	kubeschedulerv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"topospread.dev/oracle/judging"
)

type Case struct {
	Name                   string                     `json:"name"`
	Config                 json.RawMessage            `json:"config,omitempty"`
	FeatureGates           map[string]bool            `json:"featureGates,omitempty"`
	Nodes                  []v1.Node                  `json:"nodes"`
	Pods                   []v1.Pod                   `json:"pods"`
	Namespaces             []v1.Namespace             `json:"namespaces,omitempty"`
	Services               []v1.Service               `json:"services,omitempty"`
	ReplicaSets            []appsv1.ReplicaSet        `json:"replicaSets,omitempty"`
	StatefulSets           []appsv1.StatefulSet       `json:"statefulSets,omitempty"`
	ReplicationControllers []v1.ReplicationController `json:"replicationControllers,omitempty"`
	PersistentVolumes      []v1.PersistentVolume      `json:"persistentVolumes,omitempty"`
	PersistentVolumeClaims []v1.PersistentVolumeClaim `json:"persistentVolumeClaims,omitempty"`
	StorageClasses         []storagev1.StorageClass   `json:"storageClasses,omitempty"`
	CSINodes               []storagev1.CSINode        `json:"csiNodes,omitempty"`
	Nominated              []v1.Pod                   `json:"nominated,omitempty"`
	Incoming               []v1.Pod                   `json:"incoming"`
}

// Answer to one pod: how many nodes were evaluated, which were found feasible, and their scores when there were several.
type Answer struct {
	Pod       string           `json:"pod"`
	Feasible  []string         `json:"feasible"`
	Evaluated int              `json:"evaluated,omitempty"`
	Total     map[string]int64 `json:"total,omitempty"`
	Best      []string         `json:"best,omitempty"`
	Takes     string           `json:"takes,omitempty"`
	Chosen    string           `json:"chosen,omitempty"`
	Message   string           `json:"message,omitempty"`
	Error     string           `json:"error,omitempty"`
}

type Result struct {
	Name     string   `json:"name"`
	Verdicts []Answer `json:"verdicts"`
	Error    string   `json:"error,omitempty"`
}

// recorder is a PreScore plugin that remembers which nodes the filters left.
type recorder struct{ nodes *[]fwk.NodeInfo }

const recorderName = "Recorder"

func (recorder) Name() string { return recorderName }

func (r recorder) PreScore(_ context.Context, _ fwk.CycleState, _ *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	*r.nodes = nodes
	return nil
}

func loadConfig(raw json.RawMessage) (*config.KubeSchedulerConfiguration, error) {
	if len(raw) == 0 {
		var versioned kubeschedulerv1.KubeSchedulerConfiguration
		scheme.Scheme.Default(&versioned)
		var cfg config.KubeSchedulerConfiguration
		return &cfg, scheme.Scheme.Convert(&versioned, &cfg, nil)
	}
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode(raw, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("not a KubeSchedulerConfiguration: %T", obj)
	}
	return cfg, nil
}

func pointers[T any, P interface {
	*T
	runtime.Object
}](items []T) (out []runtime.Object) {
	for i := range items {
		out = append(out, P(&items[i]))
	}
	return
}

func evaluate(parent context.Context, c *Case) (res Result) {
	res.Name = c.Name
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	restore, err := judging.SetGates(c.FeatureGates)
	if err != nil {
		res.Error = err.Error()
		return
	}
	defer restore()
	cfg, err := loadConfig(c.Config)
	if err != nil {
		res.Error = err.Error()
		return
	}
	var found []fwk.NodeInfo
	for i := range cfg.Profiles {
		pre := &cfg.Profiles[i].Plugins.PreScore
		pre.Enabled = append(pre.Enabled, config.Plugin{Name: recorderName})
	}
	registry := frameworkruntime.Registry{recorderName: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
		return recorder{&found}, nil
	}}
	objs := slices.Concat(
		pointers(c.Namespaces), pointers(c.Services), pointers(c.ReplicaSets), pointers(c.StatefulSets),
		pointers(c.ReplicationControllers), pointers(c.PersistentVolumes), pointers(c.PersistentVolumeClaims),
		pointers(c.StorageClasses), pointers(c.CSINodes), pointers(c.Nominated),
	)
	client := fake.NewClientset(objs...)
	factory := informers.NewSharedInformerFactory(client, 0)
	recorders := profile.RecorderFactory(func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
	sched, err := scheduler.New(ctx, client, factory, nil, recorders,
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithFrameworkOutOfTreeRegistry(registry),
		scheduler.WithParallelism(1),
	)
	if err != nil {
		res.Error = err.Error()
		return
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		res.Error = err.Error()
		return
	}
	if len(c.PersistentVolumes)+len(c.PersistentVolumeClaims) > 0 {
		time.Sleep(30 * time.Millisecond) // VolumeBinding's caches fill from handlers that no sync call waits for
	}
	logger := klog.FromContext(ctx)
	known := map[string]bool{}
	for i := range c.Nodes {
		sched.Cache.AddNode(logger, &c.Nodes[i])
		known[c.Nodes[i].Name] = true
	}
	for i := range c.Pods {
		phase := c.Pods[i].Status.Phase
		if phase == v1.PodSucceeded || phase == v1.PodFailed || !known[c.Pods[i].Spec.NodeName] {
			continue
		}
		if err := sched.Cache.AddPod(logger, &c.Pods[i]); err != nil {
			res.Error = err.Error()
			return
		}
	}
	for i := range c.Incoming {
		found = nil
		res.Verdicts = append(res.Verdicts, schedule(ctx, sched, &c.Incoming[i], &found))
	}
	return
}

func schedule(ctx context.Context, sched *scheduler.Scheduler, pod *v1.Pod, found *[]fwk.NodeInfo) (a Answer) {
	a.Pod, a.Feasible = pod.Namespace+"/"+pod.Name, []string{}
	logger := klog.FromContext(ctx)
	fw := sched.Profiles[pod.Spec.SchedulerName]
	if fw == nil {
		fw = sched.Profiles[v1.DefaultSchedulerName]
	}
	if err := sched.Cache.UpdateSnapshot(logger, fw.SnapshotSharedLister().(*internalcache.Snapshot)); err != nil {
		a.Error = err.Error()
		return
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		a.Error = err.Error()
		return
	}
	state := framework.NewCycleState()
	result, err := sched.SchedulePod(ctx, fw, state, &framework.QueuedPodInfo{PodInfo: info})
	var unfit *framework.FitError
	if errors.As(err, &unfit) || errors.Is(err, scheduler.ErrNoNodesAvailable) {
		a.Message = err.Error()
		return
	}
	if err != nil {
		a.Error = err.Error()
		return
	}
	a.Evaluated = result.EvaluatedNodes
	if err := a.score(ctx, fw, state, pod, *found, result); err != nil {
		a.Error = err.Error()
		return
	}
	a.Chosen = a.Best[0]
	bound := pod.DeepCopy()
	bound.Spec.NodeName = a.Chosen
	if err := sched.Cache.AssumePod(logger, bound); err != nil {
		a.Error = err.Error()
	}
	return
}

// score tells all the best nodes, of which SchedulePod has drawn one.
func (a *Answer) score(ctx context.Context, fw framework.Framework, state fwk.CycleState, pod *v1.Pod, found []fwk.NodeInfo, result scheduler.ScheduleResult) error {
	if result.FeasibleNodes == 1 {
		a.Feasible, a.Best = []string{result.SuggestedHost}, []string{result.SuggestedHost}
		return nil
	}
	if len(found) != result.FeasibleNodes {
		return fmt.Errorf("%d nodes were seen, %d were found", len(found), result.FeasibleNodes)
	}
	if status := fw.RunPreScorePlugins(ctx, state, pod, found); !status.IsSuccess() {
		return status.AsError()
	}
	scores, status := fw.RunScorePlugins(ctx, state, pod, found)
	if !status.IsSuccess() {
		return status.AsError()
	}
	a.Total = map[string]int64{}
	highest := int64(-1 << 62)
	for _, each := range scores {
		a.Feasible = append(a.Feasible, each.Name)
		a.Total[each.Name] = each.TotalScore
		highest = max(highest, each.TotalScore)
	}
	for _, each := range scores {
		if each.TotalScore == highest {
			a.Best = append(a.Best, each.Name)
		}
	}
	sort.Strings(a.Feasible)
	sort.Strings(a.Best)
	// Of nodes that PreFilter names, SchedulePod looks at them in the order of a Go map.
	if left, _, _ := fw.RunPreFilterPlugins(ctx, framework.NewCycleState(), pod); left.AllNodes() {
		a.Takes = result.SuggestedHost
	}
	if !slices.Contains(a.Best, result.SuggestedHost) {
		return fmt.Errorf("SchedulePod chose %s, which is none of the best", result.SuggestedHost)
	}
	return nil
}

func main() {
	ctx := context.Background()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	enc := json.NewEncoder(out)
	dec := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	for dec.More() {
		var c Case
		if err := dec.Decode(&c); err != nil {
			fmt.Fprintln(os.Stderr, "decode:", err)
			os.Exit(1)
		}
		enc.Encode(evaluate(ctx, &c))
		out.Flush()
	}
}
