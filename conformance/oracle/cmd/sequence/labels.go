package main

import (
	"maps"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/podtopologylabels"
)

// newAdmission is the API server's plugin that gives a Binding the zone and region of its node.
func (w *world) newAdmission() (admission.MutationInterface, error) {
	plugins := admission.NewPlugins()
	podtopologylabels.Register(plugins)
	gates := utilfeature.DefaultFeatureGate
	given := initializer.New(w.client, nil, w.factory, nil, gates, nil, w.ctx.Done(), nil)
	plugin, err := plugins.InitPlugin(podtopologylabels.PluginName, nil, given)
	if err != nil {
		return nil, err
	}
	return plugin.(admission.MutationInterface), nil
}

// bound is what the API server makes of a pod when it is bound to a node (registry/core/pod/storage, assignPod).
func (w *world) bound(pod *v1.Pod, node string) (*v1.Pod, error) {
	binding := &core.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		Target:     core.ObjectReference{Kind: "Node", Name: node},
	}
	asked := admission.NewAttributesRecord(binding, nil, core.SchemeGroupVersion.WithKind("Binding"), pod.Namespace,
		pod.Name, core.SchemeGroupVersion.WithResource("pods"), "binding", admission.Create, nil, false, nil)
	if err := w.admission.Admit(w.ctx, asked, nil); err != nil {
		return nil, err
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName = node
	if len(binding.Labels) > 0 && pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, binding.Labels)
	return pod, nil
}
