// Scaledown says which pods the ReplicaSet and ReplicationController controllers delete: the controllers themselves run on
// a client without a server. stdin: one JSON case per line; stdout: one JSON list per line, the names of the pods that went.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
)

// Case is what there is in one namespace; surplus is how many pods there are too many in all.
type Case struct {
	ReplicaSets            []apps.ReplicaSet          `json:"replicaSets"`
	ReplicationControllers []v1.ReplicationController `json:"replicationControllers"`
	Pods                   []v1.Pod                   `json:"pods"`
	Surplus                int                        `json:"surplus"`
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// left are the names of the pods of a namespace.
func left(ctx context.Context, client *fake.Clientset) map[string]bool {
	list, err := client.CoreV1().Pods("ns").List(ctx, metav1.ListOptions{})
	check(err)
	names := map[string]bool{}
	for _, pod := range list.Items {
		names[pod.Name] = true
	}
	return names
}

func deleted(c *Case) []string {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	defer cancel()
	objects := []runtime.Object{}
	for i := range c.ReplicaSets {
		objects = append(objects, &c.ReplicaSets[i])
	}
	for i := range c.ReplicationControllers {
		objects = append(objects, &c.ReplicationControllers[i])
	}
	for i := range c.Pods {
		objects = append(objects, &c.Pods[i])
	}
	client := fake.NewSimpleClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	sets := replicaset.NewReplicaSetController(ctx, factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods(), client, 500)
	controllers := replication.NewReplicationManager(ctx, factory.Core().V1().Pods(), factory.Core().V1().ReplicationControllers(), client, 500)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go sets.Run(ctx, 1)
	go controllers.Run(ctx, 1)
	gone := []string{}
	for range 400 {
		time.Sleep(10 * time.Millisecond)
		there := left(ctx, client)
		if len(c.Pods)-len(there) >= c.Surplus {
			time.Sleep(20 * time.Millisecond)
			there = left(ctx, client)
			for _, pod := range c.Pods {
				if !there[pod.Name] {
					gone = append(gone, pod.Name)
				}
			}
			break
		}
	}
	slices.Sort(gone)
	return gone
}

func main() {
	klog.SetLogger(klog.Logger{})
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<26)
	for in.Scan() {
		c := &Case{}
		check(json.Unmarshal(in.Bytes(), c))
		line, err := json.Marshal(deleted(c))
		check(err)
		fmt.Println(string(line))
	}
}
