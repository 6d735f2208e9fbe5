package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	kubeschedulerv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	testingclock "k8s.io/utils/clock/testing"
)

// start is when every history begins.
var start = time.Unix(1_000_000, 0)

// history is a queue under way.
type history struct {
	queue  *queue.PriorityQueue
	clock  *testingclock.FakeClock
	logger klog.Logger
	// latest is what the API server last said of each pod, by UID.
	latest map[types.UID]*v1.Pod
	// names are those of all pods there ever were.
	names sets.Set[string]
	// flying are the pods that were popped and are not done, in that order.
	flying []*framework.QueuedPodInfo
	places map[string]string
}

func newHistory(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory, raw json.RawMessage) (*history, error) {
	cfg, err := loadConfig(raw)
	if err != nil {
		return nil, err
	}
	profile := withoutClaims(cfg.Profiles[0])
	registry := plugins.NewInTreeRegistry()
	delete(registry, "DynamicResources")
	snapshot := internalcache.NewEmptySnapshot()
	fw, err := frameworkruntime.NewFramework(ctx, registry, &profile,
		frameworkruntime.WithComponentConfigVersion(kubeschedulerv1.SchemeGroupVersion.String()),
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSharedDRAManager(noDevices{}),
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithMutableSnapshotLister(snapshot),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
	)
	if err != nil {
		return nil, err
	}
	hints, err := queueingHints(ctx, fw.EnqueueExtensions())
	if err != nil {
		return nil, err
	}
	preEnqueue := map[string]fwk.PreEnqueuePlugin{}
	for _, each := range fw.PreEnqueuePlugins() {
		preEnqueue[each.Name()] = each
	}
	h := &history{clock: testingclock.NewFakeClock(start), logger: klog.FromContext(ctx)}
	h.latest, h.names, h.places = map[types.UID]*v1.Pod{}, sets.New[string](), map[string]string{}
	h.queue = queue.NewPriorityQueue(fw.QueueSortFunc(), factory,
		queue.WithClock(h.clock),
		queue.WithQueueingHintMapPerProfile(queue.QueueingHintMapPerProfile{fw.ProfileName(): hints}),
		queue.WithPreEnqueuePluginMap(map[string]map[string]fwk.PreEnqueuePlugin{fw.ProfileName(): preEnqueue}),
		queue.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Second, ctx.Done())),
		queue.WithPodInitialBackoffDuration(time.Duration(cfg.PodInitialBackoffSeconds)*time.Second),
		queue.WithPodMaxBackoffDuration(time.Duration(cfg.PodMaxBackoffSeconds)*time.Second),
	)
	return h, nil
}

// noDevices is what NodeResourcesFit learns of devices in a cluster without a DeviceClass.
type noDevices struct{ fwk.SharedDRAManager }

func (noDevices) DeviceClassResolver() fwk.DeviceClassResolver { return noClasses{} }

type noClasses struct{}

func (noClasses) GetDeviceClass(v1.ResourceName) *resourceapi.DeviceClass { return nil }

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

// withoutClaims is the profile without the plugin that allocates devices.
func withoutClaims(profile config.KubeSchedulerProfile) config.KubeSchedulerProfile {
	all := *profile.Plugins
	all.MultiPoint.Enabled = slices.DeleteFunc(slices.Clone(all.MultiPoint.Enabled), func(p config.Plugin) bool {
		return p.Name == "DynamicResources"
	})
	profile.Plugins = &all
	return profile
}

// queueingHints is pkg/scheduler/scheduler.go's buildQueueingHintMap, which cannot be called from here.
func queueingHints(ctx context.Context, extensions []fwk.EnqueueExtensions) (queue.QueueingHintMap, error) {
	hints := queue.QueueingHintMap{}
	for _, extension := range extensions {
		events, err := extension.EventsToRegister(ctx)
		if err != nil {
			return nil, err
		}
		for _, event := range events {
			hint := &queue.QueueingHintFunction{PluginName: extension.Name(), QueueingHintFn: event.QueueingHintFn}
			if hint.QueueingHintFn == nil {
				hint.QueueingHintFn = func(klog.Logger, *v1.Pod, interface{}, interface{}) (fwk.QueueingHint, error) {
					return fwk.Queue, nil
				}
			}
			kinds := []fwk.ClusterEvent{event.Event}
			if event.Event.Resource == fwk.Pod {
				kinds = framework.UnrollPodEvent(event.Event)
			}
			for _, kind := range kinds {
				hints[kind] = append(hints[kind], hint)
			}
		}
	}
	return hints, nil
}

// take does one step; the name of the pod that it popped, if it is that kind of step.
func (h *history) take(ctx context.Context, s *Step) (string, error) {
	switch s.Do {
	case "add":
		h.know(s.Pod)
		h.queue.Add(ctx, s.Pod)
	case "update":
		old, changed := &v1.Pod{}, &v1.Pod{}
		if err := decode(s, old, changed); err != nil {
			return "", err
		}
		h.know(changed)
		h.queue.Update(ctx, old, changed)
	case "delete":
		h.queue.Delete(h.logger, s.Pod)
	case "activate":
		for _, pod := range s.Pods {
			h.queue.Activate(h.logger, map[string]*v1.Pod{pod.Name: pod})
		}
	case "pop":
		return h.pop()
	case "fail":
		h.land(s.Nth, func(info *framework.QueuedPodInfo) { h.fail(info, s) })
	case "done":
		h.land(s.Nth, func(info *framework.QueuedPodInfo) { h.queue.Done(info.Pod.UID) })
	case "advance":
		h.clock.Step(time.Duration(s.Nanoseconds))
	case "flushBackoff":
		flushBackoffQCompleted(h.queue, h.logger)
	case "flushUnschedulable":
		flushUnschedulableEntitiesLeftover(h.queue, h.logger)
	case "event":
		return "", h.happen(s)
	default:
		return "", fmt.Errorf("no such step: %q", s.Do)
	}
	return "", nil
}

func (h *history) know(pod *v1.Pod) {
	h.latest[pod.UID] = pod
	h.names.Insert(pod.Namespace + "/" + pod.Name)
}

// pop pops a pod if the queue would not wait for one.
func (h *history) pop() (string, error) {
	ready := len(h.queue.PodsInActiveQ()) > 0
	if utilfeature.DefaultFeatureGate.Enabled(features.SchedulerPopFromBackoffQ) {
		for _, pod := range h.queue.PodsInBackoffQ() {
			info, _ := h.queue.GetPod(pod.Name, pod.Namespace, nil)
			ready = ready || len(info.UnschedulablePlugins)+len(info.PendingPlugins) > 0
		}
	}
	if !ready {
		return "", nil
	}
	entity, err := h.queue.Pop(h.logger)
	if err != nil {
		return "", err
	}
	info, ok := entity.(*framework.QueuedPodInfo)
	if !ok {
		return "", fmt.Errorf("not a pod: %T", entity)
	}
	h.flying = append(h.flying, info)
	return fmt.Sprintf("%s/%s attempt %d", info.Pod.Namespace, info.Pod.Name, info.Attempts), nil
}

// land ends the flight of the nth pod that is being tried.
func (h *history) land(nth int, end func(*framework.QueuedPodInfo)) {
	if len(h.flying) == 0 {
		return
	}
	nth %= len(h.flying)
	info := h.flying[nth]
	h.flying = slices.Delete(h.flying, nth, nth+1)
	end(info)
}

// fail is pkg/scheduler/schedule_one.go's handleSchedulingFailure, as far as the queue is concerned.
func (h *history) fail(info *framework.QueuedPodInfo, s *Step) {
	info = info.DeepCopy()
	info.ClearRejectorPlugins()
	info.UnschedulablePlugins, info.PendingPlugins = sets.New(s.Unschedulable...), sets.New(s.Pending...)
	info.PodInfo, _ = framework.NewPodInfo(h.latest[info.Pod.UID].DeepCopy())
	_ = h.queue.AddUnschedulablePodIfNotPresent(h.logger, info, h.queue.SchedulingCycle())
}

// changes are the places of pods that are not what they were when it was last asked; nil: the pod is in no place.
func (h *history) changes() map[string]*string {
	places := h.describe()
	changed := map[string]*string{}
	for name, place := range places {
		if h.places[name] != place {
			changed[name] = &place
		}
	}
	for name := range h.places {
		if _, ok := places[name]; !ok {
			changed[name] = nil
		}
	}
	h.places = places
	return changed
}

// describe is everything the queue knows, by pod.
func (h *history) describe() map[string]string {
	where := map[string][]string{}
	note := func(queue string, pods []*v1.Pod) {
		for _, pod := range pods {
			name := pod.Namespace + "/" + pod.Name
			where[name] = append(where[name], queue)
		}
	}
	note("active", h.queue.PodsInActiveQ())
	note("backoff", h.queue.PodsInBackoffQ())
	note("unschedulable", h.queue.UnschedulablePods())
	note("in flight", h.queue.InFlightPods())
	places := map[string]string{}
	for name, queues := range where {
		sort.Strings(queues)
		places[name] = strings.Join(queues, "+")
		namespace, bare, _ := strings.Cut(name, "/")
		if info, ok := h.queue.GetPod(bare, namespace, nil); ok {
			places[name] += describe(info)
		}
	}
	return places
}

func describe(info *framework.QueuedPodInfo) string {
	expires := "-"
	if !info.BackoffExpiration.IsZero() {
		expires = fmt.Sprint(info.BackoffExpiration.Sub(start).Nanoseconds())
	}
	text := fmt.Sprintf(" since %d attempts %d unschedulable %d errors %d expires %s",
		info.Timestamp.Sub(start).Nanoseconds(), info.Attempts, info.UnschedulableCount, info.ConsecutiveErrorsCount, expires)
	if len(info.UnschedulablePlugins) > 0 {
		text += " by " + strings.Join(sets.List(info.UnschedulablePlugins), ",")
	}
	if len(info.PendingPlugins) > 0 {
		text += " pending " + strings.Join(sets.List(info.PendingPlugins), ",")
	}
	if info.Gated() {
		text += " gated by " + info.GatingPlugin
	}
	return text + " uid " + string(info.Pod.UID)
}

func lowerOrEqual(priority *int32) queue.PreEnqueueCheck {
	if priority == nil {
		return nil
	}
	return func(pod *v1.Pod) bool { return corev1helpers.PodPriority(pod) <= *priority }
}
