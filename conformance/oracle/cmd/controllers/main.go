// Controllers says what Kubernetes makes of pods before kube-scheduler sees them: the API server's defaulting and
// admission, the DaemonSet controller's choice of nodes, the order in which a ReplicaSet or a Job removes pods, and the
// StorageClass that a claim gets. stdin: one JSON case per line, with one of the keys admit, daemon, remove, claim;
// stdout: one JSON answer per line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	genericadmissioninitializer "k8s.io/apiserver/pkg/admission/initializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/daemon/util"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageclass/setdefault"
)

// Admit is a pod that is being created, and what there is in its cluster.
type Admit struct {
	Pod             v1.Pod                       `json:"pod"`
	LimitRanges     []v1.LimitRange              `json:"limitRanges"`
	PriorityClasses []schedulingv1.PriorityClass `json:"priorityClasses"`
	RuntimeClasses  []nodev1.RuntimeClass        `json:"runtimeClasses"`
}

// Daemon is a DaemonSet and the nodes it may pick.
type Daemon struct {
	DaemonSet apps.DaemonSet `json:"daemonSet"`
	Nodes     []v1.Node      `json:"nodes"`
}

// Remove are pods of which some are to go; ranks count related pods on the same node.
type Remove struct {
	Pods  []*v1.Pod   `json:"pods"`
	Ranks []int       `json:"ranks"`
	Now   metav1.Time `json:"now"`
}

// Claim is a claim that is being created, and the StorageClasses there are.
type Claim struct {
	Claim          v1.PersistentVolumeClaim `json:"claim"`
	StorageClasses []storagev1.StorageClass `json:"storageClasses"`
}
type Case struct {
	Claim  *Claim  `json:"claim"`
	Admit  *Admit  `json:"admit"`
	Daemon *Daemon `json:"daemon"`
	Remove *Remove `json:"remove"`
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func admit(a *Admit) (*v1.Pod, error) {
	objects := []runtime.Object{}
	for i := range a.LimitRanges {
		legacyscheme.Scheme.Default(&a.LimitRanges[i])
		objects = append(objects, &a.LimitRanges[i])
	}
	for i := range a.PriorityClasses {
		legacyscheme.Scheme.Default(&a.PriorityClasses[i])
		objects = append(objects, &a.PriorityClasses[i])
	}
	for i := range a.RuntimeClasses {
		legacyscheme.Scheme.Default(&a.RuntimeClasses[i])
		objects = append(objects, &a.RuntimeClasses[i])
	}
	client := fake.NewSimpleClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	limits, err := limitranger.NewLimitRanger(nil)
	check(err)
	limits.SetExternalKubeClientSet(client)
	limits.SetExternalKubeInformerFactory(factory)
	priorities := priority.NewPlugin()
	priorities.SetExternalKubeClientSet(client)
	priorities.SetExternalKubeInformerFactory(factory)
	seconds := defaulttolerationseconds.NewDefaultTolerationSeconds()
	seconds.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	runtimes := runtimeclass.NewRuntimeClass()
	runtimes.SetExternalKubeClientSet(client)
	runtimes.SetExternalKubeInformerFactory(factory)
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	legacyscheme.Scheme.Default(&a.Pod)
	internal := &core.Pod{}
	check(legacyscheme.Scheme.Convert(&a.Pod, internal, nil))
	attributes := admission.NewAttributesRecord(internal, nil, core.Kind("Pod").WithVersion("v1"), a.Pod.Namespace, a.Pod.Name,
		core.Resource("pods").WithVersion("v1"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	for _, plugin := range []admission.MutationInterface{limits, priorities, seconds, runtimes} {
		if err := plugin.Admit(context.Background(), attributes, nil); err != nil {
			return nil, err
		}
	}
	if err := runtimes.Validate(context.Background(), attributes, nil); err != nil {
		return nil, err
	}
	pod.Strategy.PrepareForCreate(context.Background(), internal)
	result := &v1.Pod{}
	check(legacyscheme.Scheme.Convert(internal, result, nil))
	return result, nil
}

func daemonPods(d *Daemon) map[string]any {
	flags := map[string][2]bool{}
	for i := range d.Nodes {
		run, stay := daemon.NodeShouldRunDaemonPod(klog.Background(), &d.Nodes[i], &d.DaemonSet)
		flags[d.Nodes[i].Name] = [2]bool{run, stay}
	}
	template := util.CreatePodTemplate(d.DaemonSet.Spec.Template, nil, "")
	template.Spec.Affinity = util.ReplaceDaemonSetPodNodeNameNodeAffinity(template.Spec.Affinity, "a-node")
	return map[string]any{"nodes": flags, "tolerations": template.Spec.Tolerations, "affinity": template.Spec.Affinity}
}

func classOf(c *Claim) (*string, error) {
	objects := []runtime.Object{}
	for i := range c.StorageClasses {
		objects = append(objects, &c.StorageClasses[i])
	}
	factory := informers.NewSharedInformerFactory(fake.NewSimpleClientset(objects...), 0)
	plugins := admission.NewPlugins()
	setdefault.Register(plugins)
	plugin, err := plugins.InitPlugin(setdefault.PluginName, nil, genericadmissioninitializer.New(nil, nil, factory, nil, nil, nil, nil, nil))
	check(err)
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	internal := &core.PersistentVolumeClaim{}
	check(legacyscheme.Scheme.Convert(&c.Claim, internal, nil))
	attributes := admission.NewAttributesRecord(internal, nil, core.Kind("PersistentVolumeClaim").WithVersion("v1"), "ns", "data",
		core.Resource("persistentvolumeclaims").WithVersion("v1"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	err = plugin.(admission.MutationInterface).Admit(context.Background(), attributes, nil)
	return internal.Spec.StorageClassName, err
}

func less(pods controllerPods) [][]bool {
	result := make([][]bool, pods.Len())
	for i := range result {
		result[i] = make([]bool, pods.Len())
		for j := range result[i] {
			result[i][j] = i != j && pods.Less(i, j)
		}
	}
	return result
}

type controllerPods interface {
	Len() int
	Less(i, j int) bool
}

func answer(raw []byte) (result map[string]any) {
	defer func() {
		if r := recover(); r != nil {
			result = map[string]any{"panic": fmt.Sprint(r)}
		}
	}()
	c := Case{}
	if err := json.Unmarshal(raw, &c); err != nil {
		return map[string]any{"decode": err.Error()}
	}
	switch {
	case c.Admit != nil:
		admitted, err := admit(c.Admit)
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"spec": admitted.Spec}
	case c.Claim != nil:
		class, err := classOf(c.Claim)
		check(err)
		return map[string]any{"storageClassName": class}
	case c.Daemon != nil:
		return daemonPods(c.Daemon)
	default:
		ranked := controller.ActivePodsWithRanks{Pods: c.Remove.Pods, Rank: c.Remove.Ranks, Now: c.Remove.Now}
		return map[string]any{"ranked": less(ranked), "plain": less(controller.ActivePods(c.Remove.Pods))}
	}
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	enc := json.NewEncoder(out)
	dec := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	for dec.More() {
		var raw json.RawMessage
		check(dec.Decode(&raw))
		check(enc.Encode(answer(raw)))
	}
}
