// unthinking KUBECONFIG binds every pod that waits to the next node and writes the event of it, without a decision: what
// any scheduler comes to at most beside this API server, with kube-scheduler's own client.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const inFlight = 64

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		panic(err)
	}
	config.QPS, config.Burst = 5000, 5000
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client := kubernetes.NewForConfigOrDie(config)
	nodes, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		panic(err)
	}

	pods := make(chan *corev1.Pod, 1<<16)
	waiting := cache.NewListWatchFromClient(
		client.CoreV1().RESTClient(), "pods", "", fields.OneTermEqualSelector("spec.nodeName", ""))
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: waiting,
		ObjectType:    &corev1.Pod{},
		Handler:       cache.ResourceEventHandlerFuncs{AddFunc: func(pod any) { pods <- pod.(*corev1.Pod) }},
	})
	next := make(chan string)
	go func() {
		for number := 0; ; number++ {
			next <- nodes.Items[number%len(nodes.Items)].Name
		}
	}()
	for range inFlight {
		go func() {
			for pod := range pods {
				bind(client, pod, <-next)
			}
		}()
	}
	controller.Run(nil)
}

func bind(client kubernetes.Interface, pod *corev1.Pod, node string) {
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
	if err := client.CoreV1().Pods(pod.Namespace).Bind(context.Background(), binding, metav1.CreateOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	go record(client, pod, node) // kube-scheduler does not wait for its events either
}

func record(client kubernetes.Interface, pod *corev1.Pod, node string) {
	event := &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: pod.Namespace, Name: fmt.Sprintf("%s.%x", pod.Name, time.Now().UnixNano())},
		EventTime:           metav1.NowMicro(),
		ReportingController: "unthinking",
		ReportingInstance:   "unthinking",
		Action:              "Binding",
		Reason:              "Scheduled",
		Type:                corev1.EventTypeNormal,
		Regarding:           corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, APIVersion: "v1"},
		Note:                fmt.Sprintf("Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, node),
	}
	if _, err := client.EventsV1().Events(pod.Namespace).Create(context.Background(), event, metav1.CreateOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
