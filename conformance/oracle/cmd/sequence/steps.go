package main

import (
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// beginning is after whatever a case says of its pods, and today, when those count as started that are not, after that;
// a bubble begins in the year 2000.
var (
	beginning = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	today     = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
)

var pods = v1.SchemeGroupVersion.WithResource("pods")

// step does one thing, lets the controllers of volumes do theirs, and says how things stand.
func (w *world) step(s *Step) (a Answer, err error) {
	w.steps++
	switch {
	case s.Schedule != nil:
		a, err = w.try(s.Schedule, s)
	case s.Again != "":
		namespace, name, _ := strings.Cut(s.Again, "/")
		pod := w.pod(namespace, name)
		if pod == nil || pod.Spec.NodeName != "" {
			break // it is gone, or has a node: there is nothing to try
		}
		a, err = w.try(pod, s)
	case s.Put != nil:
		object, problem := decoded(s.Put)
		if problem != nil {
			return a, problem
		}
		if err = w.put(object); err == nil {
			err = w.beat(object.GetObjectKind().GroupVersionKind().Kind)
		}
	case s.Remove != nil:
		if err = w.removed(s.Remove); err == nil {
			err = w.beat(s.Remove.Kind)
		}
	}
	if err != nil {
		return a, err
	}
	if err := w.bindVolumes(""); err != nil {
		return a, err
	}
	w.describe(&a)
	return a, nil
}

// beat lets every kubelet report once nodes have changed: what the cache's copy of a node says of other nodes, on how
// many an image is, stays as it was until something about that node happens.
func (w *world) beat(kind string) error {
	if kind != "Node" {
		return nil
	}
	for _, node := range sorted[*v1.Node](w, v1.SchemeGroupVersion.WithKind(kind)) {
		if err := w.put(node); err != nil {
			return err
		}
	}
	return nil
}

// removed takes an object away, and with a node its pods, as the garbage collector of pods does. One that is not there
// is passed over.
func (w *world) removed(n *Named) error {
	for _, group := range []string{"", "storage.k8s.io", "policy", "apps"} {
		kind := schema.GroupVersionKind{Group: group, Version: "v1", Kind: n.Kind}
		if !scheme.Scheme.Recognizes(kind) {
			continue
		}
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		if _, err := w.client.Tracker().Get(resource, n.Namespace, n.Name); err != nil {
			return nil
		}
		if n.Kind == "Node" {
			for _, pod := range w.pods() {
				if pod.Spec.NodeName == n.Name {
					if err := w.remove(pods, pod.Namespace, pod.Name); err != nil {
						return err
					}
				}
			}
		}
		return w.remove(resource, n.Namespace, n.Name)
	}
	return fmt.Errorf("no kind %q is known", n.Kind)
}

// try is a scheduling cycle and what follows it: the pod is bound, or room is made for it, or it stays as it is.
func (w *world) try(pod *v1.Pod, s *Step) (a Answer, err error) {
	if known := w.pod(pod.Namespace, pod.Name); known != nil {
		if known.Spec.NodeName != "" {
			return a, fmt.Errorf("pod %s/%s is on a node", pod.Namespace, pod.Name)
		}
		pod = known
	} else if err := w.put(pod); err != nil {
		return a, err
	}
	synctest.Wait()
	pod = w.pod(pod.Namespace, pod.Name)
	if err := w.sched.Cache.UpdateSnapshot(klog.FromContext(w.ctx), w.snapshot); err != nil {
		return a, err
	}
	state := framework.NewCycleState()
	verdict := w.judges[pod.Spec.SchedulerName].Cycle(w.ctx, state, pod, w.budgets())
	a.Verdict = &verdict
	if verdict.Error != "" || len(verdict.Feasible) == 0 {
		return a, w.preempt(pod, s, &a)
	}
	verdict.Chosen = chosen(verdict.Best, s.Choose)
	if slices.Contains(verdict.Feasible, pod.Status.NominatedNodeName) {
		verdict.Chosen = pod.Status.NominatedNodeName // the others are not looked at
	}
	if a.Failed, err = w.bind(state, pod, verdict.Chosen, s.Fails); err == nil && a.Failed != "" {
		err = w.nominate(pod, "")
	}
	return a, err
}

// chosen is the one that is asked for if it is there, else the first.
func chosen(best []string, asked string) string {
	if slices.Contains(best, asked) {
		return asked
	}
	return best[0]
}

// preempt takes the victims off a node, which is promised to the pod instead (preemption/executor.go). Where none is
// found the pod's own promise ends; it stays while victims are leaving.
func (w *world) preempt(pod *v1.Pod, s *Step, a *Answer) error {
	found := a.Preemption
	if found != nil && found.Ineligible != "" {
		return nil
	}
	if found == nil || len(found.Picked) == 0 {
		return w.nominate(pod, "")
	}
	node := chosen(found.Picked, s.Choose)
	for _, victim := range found.Candidates[node].Victims {
		namespace, name, _ := strings.Cut(victim, "/")
		if err := w.remove(pods, namespace, name); err != nil {
			return err
		}
		a.Evicted = append(a.Evicted, victim)
	}
	for _, other := range w.pods() {
		less := corev1helpers.PodPriority(other) < corev1helpers.PodPriority(pod)
		if other.Spec.NodeName == "" && other.Status.NominatedNodeName == node && less {
			if err := w.nominate(other, ""); err != nil {
				return err
			}
		}
	}
	return w.nominate(pod, node)
}

func (w *world) nominate(pod *v1.Pod, node string) error {
	if pod.Status.NominatedNodeName == node {
		return nil
	}
	pod = pod.DeepCopy()
	pod.Status.NominatedNodeName = node
	return w.put(pod)
}

// bind is the rest of the cycle (schedule_one.go, assumeAndReserve and bindingCycle): what failed in it, "" if nothing.
// Before PreBind ends, the controllers of volumes have to have done their part.
func (w *world) bind(state fwk.CycleState, pod *v1.Pod, node, fails string) (string, error) {
	logger := klog.FromContext(w.ctx)
	fw := w.sched.Profiles[pod.Spec.SchedulerName]
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = node
	if err := w.sched.Cache.AssumePod(logger, assumed); err != nil {
		return "", err
	}
	w.sched.SchedulingQueue.DeleteNominatedPodIfExists(assumed)
	failed := func(why string) (string, error) {
		fw.RunReservePluginsUnreserve(w.ctx, state, assumed, node)
		return why, w.sched.Cache.ForgetPod(logger, assumed)
	}
	if status := fw.RunReservePluginsReserve(w.ctx, state, assumed, node); !status.IsSuccess() {
		return failed(status.Message())
	}
	if fails == "reserve" {
		return failed(fails)
	}
	if status := fw.RunPreBindPreFlights(w.ctx, state, assumed, node); !status.IsSuccess() && !status.IsSkip() {
		return failed(status.Message())
	}
	done := make(chan *fwk.Status, 1)
	w.refuse = fails == "update"
	go func() { done <- fw.RunPreBindPlugins(w.ctx, state, assumed, node) }()
	for {
		synctest.Wait()
		w.refuse = false
		select {
		case status := <-done:
			if !status.IsSuccess() {
				return failed("preBind")
			}
			if fails == "bind" {
				return failed(fails)
			}
			bound, err := w.bound(w.pod(pod.Namespace, pod.Name), node)
			if err != nil {
				return "", err
			}
			started := metav1.NewTime(beginning.Add(time.Duration(w.steps) * time.Second))
			bound.Status.StartTime = &started // as the kubelet would
			return "", w.put(bound)
		default:
		}
		if err := w.bindVolumes(fails); err != nil {
			return "", err
		}
		time.Sleep(time.Second)
	}
}

// describe says which pods are promised a node, and how claims and volumes stand.
func (w *world) describe(a *Answer) {
	a.Nominated, a.Claims, a.Volumes = map[string]string{}, map[string]string{}, map[string]string{}
	for _, pod := range w.pods() {
		if pod.Spec.NodeName == "" && pod.Status.NominatedNodeName != "" {
			a.Nominated[pod.Namespace+"/"+pod.Name] = pod.Status.NominatedNodeName
		}
	}
	for _, claim := range w.claims() {
		a.Claims[claim.Namespace+"/"+claim.Name] = claimState(claim)
	}
	for _, volume := range w.volumes() {
		a.Volumes[volume.Name] = volumeState(volume)
	}
}
