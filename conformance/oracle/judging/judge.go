package judging

import (
	"context"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// judge is one profile's plugins on one state of the cluster.
type judge struct {
	fw        framework.Framework
	snapshot  *snapshot
	preemptor *defaultpreemption.DefaultPreemption
}

func newJudge(ctx context.Context, w *world, profile config.KubeSchedulerProfile) (*judge, error) {
	j := &judge{snapshot: newSnapshot(w.pods, w.nodes)}
	registry := plugins.NewInTreeRegistry()
	delete(registry, "DynamicResources")
	original := registry[names.DefaultPreemption]
	registry[names.DefaultPreemption] = func(ctx context.Context, args runtime.Object, h handle) (plugin, error) {
		made, err := original(ctx, args, h)
		j.preemptor, _ = made.(*defaultpreemption.DefaultPreemption)
		return made, err
	}
	var err error
	j.fw, err = frameworkruntime.NewFramework(ctx, registry, &profile,
		frameworkruntime.WithComponentConfigVersion(w.apiVersion),
		frameworkruntime.WithClientSet(w.client),
		frameworkruntime.WithInformerFactory(w.factory),
		frameworkruntime.WithSharedDRAManager(noDevices{}),
		frameworkruntime.WithSnapshotSharedLister(j.snapshot),
		frameworkruntime.WithMutableSnapshotLister(j.snapshot),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(w.factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithPodNominator(newNominator(w.nominated)),
	)
	return j, err
}

// noDevices is what NodeResourcesFit learns of devices in a cluster without a DeviceClass.
type noDevices struct{ fwk.SharedDRAManager }

func (noDevices) DeviceClassResolver() fwk.DeviceClassResolver { return noClasses{} }

type noClasses struct{}

func (noClasses) GetDeviceClass(v1.ResourceName) *resourceapi.DeviceClass { return nil }
