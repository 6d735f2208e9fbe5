// Autoscale says what the HorizontalPodAutoscaler controller makes of a workload's replicas when no metric is to be had: the
// controller itself runs on a client without a server. stdin: one JSON case per line; stdout: the replicas, one per line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	scalefake "k8s.io/client-go/scale/fake"
	core "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// Case is an autoscaler and the one workload there is: its resource and group, its replicas. Its name is web.
type Case struct {
	Autoscaler autoscalingv2.HorizontalPodAutoscaler `json:"autoscaler"`
	Resource   string                                `json:"resource"`
	Replicas   int32                                 `json:"replicas"`
}

var errNone = errors.New("there are no metrics")

type noMetrics struct{}

func (noMetrics) GetResourceMetric(context.Context, v1.ResourceName, string, labels.Selector, string) (metrics.PodMetricsInfo, time.Time, error) {
	return nil, time.Time{}, errNone
}
func (noMetrics) GetRawMetric(string, string, labels.Selector, labels.Selector) (metrics.PodMetricsInfo, time.Time, error) {
	return nil, time.Time{}, errNone
}
func (noMetrics) GetObjectMetric(string, string, *autoscalingv2.CrossVersionObjectReference, labels.Selector) (int64, time.Time, error) {
	return 0, time.Time{}, errNone
}
func (noMetrics) GetExternalMetric(string, string, labels.Selector) ([]int64, time.Time, error) {
	return nil, time.Time{}, errNone
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func replicas(c *Case) int32 {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	defer cancel()
	client := fake.NewSimpleClientset(&c.Autoscaler)
	done := make(chan struct{}, 100)
	client.PrependReactor("update", "horizontalpodautoscalers", func(core.Action) (bool, runtime.Object, error) {
		done <- struct{}{}
		return false, nil, nil
	})
	kept := c.Replicas
	scales := &scalefake.FakeScaleClient{}
	scales.AddReactor("get", "*", func(action core.Action) (bool, runtime.Object, error) {
		resource := action.GetResource().GroupResource()
		name := action.(core.GetAction).GetName()
		if resource.String() != c.Resource || name != "web" {
			return true, nil, apierrors.NewNotFound(resource, name)
		}
		return true, &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "ns"},
			Spec:       autoscalingv1.ScaleSpec{Replicas: c.Replicas},
			Status:     autoscalingv1.ScaleStatus{Replicas: c.Replicas, Selector: "app=web"},
		}, nil
	})
	scales.AddReactor("update", "*", func(action core.Action) (bool, runtime.Object, error) {
		scale := action.(core.UpdateAction).GetObject().(*autoscalingv1.Scale)
		kept = scale.Spec.Replicas
		return true, scale, nil
	})
	factory := informers.NewSharedInformerFactory(client, 0)
	controller := podautoscaler.NewHorizontalController(ctx, client.CoreV1(), scales, client.AutoscalingV2(),
		testrestmapper.TestOnlyStaticRESTMapper(legacyscheme.Scheme), noMetrics{}, factory.Autoscaling().V2().HorizontalPodAutoscalers(),
		factory.Core().V1().Pods(), 5*time.Millisecond, time.Minute, 0.1, time.Second, time.Second)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go controller.Run(ctx, 1)
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		panic("the controller does nothing")
	}
	return kept
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<26)
	for in.Scan() {
		c := &Case{}
		check(json.Unmarshal(in.Bytes(), c))
		fmt.Println(replicas(c))
	}
}
