package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"topospread.dev/oracle/judging"
)

// A watcher of the fake client has room for a hundred events.
const toldAtOnce = 50

// world is a cluster as an API server would hold it, and kube-scheduler watching it.
type world struct {
	ctx       context.Context
	cancel    context.CancelFunc
	client    *fake.Clientset
	factory   informers.SharedInformerFactory
	sched     *scheduler.Scheduler
	snapshot  *internalcache.Snapshot
	judges    map[string]*judging.Judge
	admission admission.MutationInterface // of bindings
	first     string                      // the scheduler name that pods have which name none
	version   int                         // the newest resourceVersion
	told      int                         // events since the informers were last waited for
	refuse    bool                        // updates of volumes and claims
	steps     int                         // that were begun
}

// begin starts kube-scheduler on an empty cluster and tells it of the nodes, then of the other objects, then of pods.
func begin(s *Sequence) (*world, error) {
	time.Sleep(time.Until(today))
	w := &world{client: fake.NewSimpleClientset(), snapshot: internalcache.NewEmptySnapshot(), judges: map[string]*judging.Judge{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.client.PrependReactor("*", "*", w.receive)
	w.factory = informers.NewSharedInformerFactory(w.client, 0)
	if err := w.start(s); err != nil {
		return w, err
	}
	var err error
	if w.admission, err = w.newAdmission(); err != nil {
		return w, err
	}
	// What the controllers of volumes look up, whichever plugins are on.
	w.factory.Core().V1().Nodes().Informer()
	w.factory.Storage().V1().StorageClasses().Informer()
	w.factory.Storage().V1().CSINodes().Informer()
	w.factory.Start(w.ctx.Done())
	w.factory.WaitForCacheSync(w.ctx.Done())
	if err := w.sched.WaitForHandlersSync(w.ctx); err != nil {
		return w, err
	}
	for i := range s.Nodes {
		if err := w.put(&s.Nodes[i]); err != nil {
			return w, err
		}
	}
	synctest.Wait()
	objects := s.Objects()
	for i := range s.PodDisruptionBudgets {
		objects = append(objects, &s.PodDisruptionBudgets[i])
	}
	for _, pod := range s.Placed() {
		objects = append(objects, pod)
	}
	for i := range s.Nominated {
		objects = append(objects, &s.Nominated[i])
	}
	for _, object := range objects {
		if err := w.put(object); err != nil {
			return w, err
		}
	}
	return w, w.bindVolumes("")
}

func (w *world) end() {
	w.cancel()
	w.factory.Shutdown()
}

// start makes the scheduler, and a judge of each profile on its snapshot and its queue's nominations.
func (w *world) start(s *Sequence) error {
	cfg, err := judging.LoadConfig(s.Config)
	if err != nil {
		return err
	}
	profiles := cfg.Profiles
	if !s.BySchedulerName {
		profiles = profiles[:1]
	}
	for i := range profiles {
		profiles[i] = judging.WithoutClaims(profiles[i])
	}
	w.first = profiles[0].SchedulerName
	recorders := profile.RecorderFactory(func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
	w.sched, err = scheduler.New(w.ctx, w.client, w.factory, nil, recorders,
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		scheduler.WithProfiles(profiles...),
		scheduler.WithNodeInfoSnapshot(w.snapshot),
	)
	if err != nil {
		// Of its start only what is wrong is said, as of a single cycle's.
		_, why, _ := strings.Cut(err.Error(), "creating profile for scheduler name ")
		_, why, _ = strings.Cut(why, ": ")
		return errors.New(cmp.Or(why, err.Error()))
	}
	for _, each := range profiles {
		fw := w.sched.Profiles[each.SchedulerName]
		var preemptor *defaultpreemption.DefaultPreemption
		if s.Preempt && fw.HasPostFilterPlugins() {
			if preemptor, err = newPreemptor(w.ctx, each, fw); err != nil {
				return err
			}
		}
		w.judges[each.SchedulerName] = judging.NewJudge(fw, w.snapshot, preemptor)
	}
	return nil
}

// newPreemptor is a second one, as a framework does not hand out its own.
func newPreemptor(ctx context.Context, p config.KubeSchedulerProfile, fw framework.Framework) (*defaultpreemption.DefaultPreemption, error) {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	for _, each := range p.PluginConfig {
		if each.Name == names.DefaultPreemption {
			return defaultpreemption.New(ctx, each.Args, fw, gates)
		}
	}
	return nil, fmt.Errorf("profile %s has no arguments for %s", p.SchedulerName, names.DefaultPreemption)
}

// receive gives what is written a resourceVersion, which the fake client does not, or refuses it.
func (w *world) receive(action clienttesting.Action) (bool, runtime.Object, error) {
	var object runtime.Object
	switch a := action.(type) {
	case clienttesting.CreateActionImpl:
		object = a.GetObject()
	case clienttesting.UpdateActionImpl:
		object = a.GetObject()
		resource := a.GetResource()
		if w.refuse && (resource.Resource == "persistentvolumes" || resource.Resource == "persistentvolumeclaims") {
			return true, nil, apierrors.NewConflict(resource.GroupResource(), "", fmt.Errorf("as the step says"))
		}
	}
	if object != nil {
		w.stamp(object)
	}
	return false, nil, nil
}

func (w *world) stamp(object runtime.Object) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	w.version++
	accessor.SetResourceVersion(strconv.Itoa(w.version))
}

// put writes an object, new or in place of the one of its name.
func (w *world) put(object runtime.Object) error {
	object = object.DeepCopyObject()
	resource, accessor, err := w.described(object)
	if err != nil {
		return err
	}
	namespace, tracker := accessor.GetNamespace(), w.client.Tracker()
	if pod, ok := object.(*v1.Pod); ok {
		if pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
			if _, err := tracker.Get(resource, namespace, pod.Name); err != nil {
				return nil // kube-scheduler does not watch finished pods; those it knows are gone for it
			}
			return w.remove(resource, namespace, pod.Name)
		}
		w.complete(pod)
	}
	w.stamp(object)
	if _, err := tracker.Get(resource, namespace, accessor.GetName()); err == nil {
		err = tracker.Update(resource, object, namespace)
		return w.tell(err)
	}
	return w.tell(tracker.Create(resource, object, namespace))
}

// complete fills in what kube-scheduler needs to know a pod, and what it serves pods by.
func (w *world) complete(pod *v1.Pod) {
	if pod.UID == "" {
		pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
	}
	if _, ok := w.judges[pod.Spec.SchedulerName]; !ok {
		pod.Spec.SchedulerName = w.first
	}
}

func (w *world) remove(resource schema.GroupVersionResource, namespace, name string) error {
	return w.tell(w.client.Tracker().Delete(resource, namespace, name))
}

func (w *world) tell(err error) error {
	if w.told++; w.told%toldAtOnce == 0 {
		synctest.Wait()
	}
	return err
}

func (w *world) described(object runtime.Object) (schema.GroupVersionResource, metav1.Object, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return schema.GroupVersionResource{}, nil, err
	}
	resource, _ := meta.UnsafeGuessKindToResource(kinds[0])
	accessor, err := meta.Accessor(object)
	return resource, accessor, err
}

// decoded is the object that JSON of any kind kube-scheduler watches stands for.
func decoded(raw json.RawMessage) (runtime.Object, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	return object, err
}

func (w *world) pod(namespace, name string) *v1.Pod {
	object, err := w.client.Tracker().Get(v1.SchemeGroupVersion.WithResource("pods"), namespace, name)
	if err != nil {
		return nil
	}
	return object.(*v1.Pod)
}

// pods are all there are, in the order of their names.
func (w *world) pods() []*v1.Pod {
	return sorted[*v1.Pod](w, v1.SchemeGroupVersion.WithKind("Pod"))
}

func (w *world) budgets() (out []policyv1.PodDisruptionBudget) {
	for _, each := range sorted[*policyv1.PodDisruptionBudget](w, policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")) {
		out = append(out, *each)
	}
	return
}

// sorted are the objects of a kind, in the order of their names.
func sorted[T interface {
	runtime.Object
	GetNamespace() string
	GetName() string
}](w *world, kind schema.GroupVersionKind) []T {
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	list, err := w.client.Tracker().List(resource, kind, "")
	if err != nil {
		panic(err)
	}
	found := map[string]T{}
	if err := meta.EachListItem(list, func(each runtime.Object) error {
		object := each.(T)
		found[object.GetNamespace()+"/"+object.GetName()] = object
		return nil
	}); err != nil {
		panic(err)
	}
	out := []T{}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[key])
	}
	return out
}
