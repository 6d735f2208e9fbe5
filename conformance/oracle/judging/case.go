// Package judging asks kube-scheduler's plugins about the pods of a case.
//
// It is written for the newest version. In ../versions/V stand the files in which V differs from the version after it:
// the framework's types and functions, not what is asked of them.
package judging

import (
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	kubeschedulerv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// Case is a cluster and pods that ask for a node; README.md describes the keys.
type Case struct {
	Name                   string                         `json:"name"`
	Config                 json.RawMessage                `json:"config,omitempty"`
	KubeVersion            string                         `json:"kubeVersion,omitempty"`
	FeatureGates           map[string]bool                `json:"featureGates,omitempty"`
	BySchedulerName        bool                           `json:"bySchedulerName,omitempty"`
	Nodes                  []v1.Node                      `json:"nodes"`
	Pods                   []v1.Pod                       `json:"pods"`
	Namespaces             []v1.Namespace                 `json:"namespaces,omitempty"`
	Services               []v1.Service                   `json:"services,omitempty"`
	ReplicaSets            []appsv1.ReplicaSet            `json:"replicaSets,omitempty"`
	StatefulSets           []appsv1.StatefulSet           `json:"statefulSets,omitempty"`
	ReplicationControllers []v1.ReplicationController     `json:"replicationControllers,omitempty"`
	PersistentVolumes      []v1.PersistentVolume          `json:"persistentVolumes,omitempty"`
	PersistentVolumeClaims []v1.PersistentVolumeClaim     `json:"persistentVolumeClaims,omitempty"`
	StorageClasses         []storagev1.StorageClass       `json:"storageClasses,omitempty"`
	CSINodes               []storagev1.CSINode            `json:"csiNodes,omitempty"`
	CSIDrivers             []storagev1.CSIDriver          `json:"csiDrivers,omitempty"`
	CSIStorageCapacities   []storagev1.CSIStorageCapacity `json:"csiStorageCapacities,omitempty"`
	VolumeAttachments      []storagev1.VolumeAttachment   `json:"volumeAttachments,omitempty"`
	PodDisruptionBudgets   []policyv1.PodDisruptionBudget `json:"podDisruptionBudgets,omitempty"`
	Preempt                bool                           `json:"preempt,omitempty"`
	Nominated              []v1.Pod                       `json:"nominated,omitempty"`
	Incoming               []v1.Pod                       `json:"incoming"`
	Sequential             bool                           `json:"sequential,omitempty"`
	Follow                 []string                       `json:"follow,omitempty"`
}

type NodeVerdict struct {
	Code    string   `json:"code,omitempty"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// Candidate is a node on which evicting Victims makes room.
type Candidate struct {
	Victims       []string `json:"victims"`
	PDBViolations int64    `json:"pdbViolations,omitempty"`
}

// Preemption of a pod without feasible nodes: every candidate, and those that may be picked (ties are drawn).
type Preemption struct {
	Ineligible string               `json:"ineligible,omitempty"`
	Candidates map[string]Candidate `json:"candidates"`
	Picked     []string             `json:"picked"`
	Message    string               `json:"message,omitempty"`
}

type Verdict struct {
	Pod        string                      `json:"pod"`
	Feasible   []string                    `json:"feasible"`
	Rejected   map[string]NodeVerdict      `json:"rejected,omitempty"`
	Message    string                      `json:"message,omitempty"`
	Total      map[string]int64            `json:"total,omitempty"`
	Scores     map[string]map[string]int64 `json:"scores,omitempty"`
	Best       []string                    `json:"best,omitempty"`
	Chosen     string                      `json:"chosen,omitempty"`
	Preemption *Preemption                 `json:"preemption,omitempty"`
	Error      string                      `json:"error,omitempty"`
}

type Result struct {
	Name     string    `json:"name"`
	Verdicts []Verdict `json:"verdicts"`
	Error    string    `json:"error,omitempty"`
	Seconds  float64   `json:"seconds,omitempty"`
}

// Objects are what the plugins' listers see.
func (c *Case) Objects() []runtime.Object {
	return slices.Concat(
		pointers(c.Namespaces), pointers(c.Services), pointers(c.ReplicaSets), pointers(c.StatefulSets),
		pointers(c.ReplicationControllers), pointers(c.PersistentVolumes), pointers(c.PersistentVolumeClaims),
		pointers(c.StorageClasses), pointers(c.CSINodes), pointers(c.CSIDrivers), pointers(c.CSIStorageCapacities),
		pointers(c.VolumeAttachments),
	)
}

// Placed are the bound pods that kube-scheduler counts: it leaves finished ones out, and those on no known node.
func (c *Case) Placed() []*v1.Pod {
	known := map[string]bool{}
	for i := range c.Nodes {
		known[c.Nodes[i].Name] = true
	}
	pods := make([]*v1.Pod, 0, len(c.Pods))
	for i := range c.Pods {
		phase := c.Pods[i].Status.Phase
		if phase != v1.PodSucceeded && phase != v1.PodFailed && known[c.Pods[i].Spec.NodeName] {
			pods = append(pods, &c.Pods[i])
		}
	}
	return pods
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

// LoadConfig decodes a KubeSchedulerConfiguration; nothing is the default one.
func LoadConfig(raw json.RawMessage) (*config.KubeSchedulerConfiguration, error) {
	if len(raw) == 0 {
		var versioned kubeschedulerv1.KubeSchedulerConfiguration
		scheme.Scheme.Default(&versioned)
		var cfg config.KubeSchedulerConfiguration
		if err := scheme.Scheme.Convert(&versioned, &cfg, nil); err != nil {
			return nil, err
		}
		cfg.TypeMeta.APIVersion = kubeschedulerv1.SchemeGroupVersion.String()
		return &cfg, nil
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

// SetGates sets feature gates until restore is called.
func SetGates(gates map[string]bool) (restore func(), err error) {
	mutable := utilfeature.DefaultMutableFeatureGate
	known := mutable.GetAll()
	before := map[string]bool{}
	for name := range gates {
		if _, ok := known[featuregate.Feature(name)]; !ok {
			return nil, fmt.Errorf("unrecognized feature gate: %s", name)
		}
		before[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
	}
	if err := mutable.SetFromMap(gates); err != nil {
		// What was refused is remembered, and refused again with whatever comes next.
		_ = mutable.SetFromMap(before)
		return nil, err
	}
	return func() {
		if err := mutable.SetFromMap(before); err != nil {
			panic(err)
		}
	}, nil
}

// WithoutClaims leaves out the plugin on resource claims: it needs a manager that is not run here.
func WithoutClaims(profile config.KubeSchedulerProfile) config.KubeSchedulerProfile {
	profile.Plugins = profile.Plugins.DeepCopy()
	profile.Plugins.MultiPoint.Enabled = slices.DeleteFunc(profile.Plugins.MultiPoint.Enabled, func(p config.Plugin) bool {
		return p.Name == "DynamicResources"
	})
	return profile
}
