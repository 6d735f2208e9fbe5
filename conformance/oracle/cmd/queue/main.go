// Queue: kube-scheduler's own scheduling queue, with a clock that a case moves, and the default plugins' queueing hints.
// stdin: one JSON history per line; stdout: for each what becomes of it, one JSON line.
//
// A history is a list of steps: pods come, change and go, are popped, found unschedulable or done; objects of the
// cluster change; time passes. After each step those pods are shown whose place in the queue is not what it was.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"topospread.dev/oracle/judging"
)

// Case is a history, and what the plugins look up besides the objects of its events.
type Case struct {
	Name                   string                     `json:"name"`
	Config                 json.RawMessage            `json:"config,omitempty"`
	FeatureGates           map[string]bool            `json:"featureGates,omitempty"`
	Services               []v1.Service               `json:"services,omitempty"`
	ReplicaSets            []appsv1.ReplicaSet        `json:"replicaSets,omitempty"`
	StatefulSets           []appsv1.StatefulSet       `json:"statefulSets,omitempty"`
	ReplicationControllers []v1.ReplicationController `json:"replicationControllers,omitempty"`
	Steps                  []Step                     `json:"steps"`
}

// Step is one thing that happens; Do says which of the other fields it has.
type Step struct {
	Do            string          `json:"do"`
	Pod           *v1.Pod         `json:"pod,omitempty"`
	Pods          []*v1.Pod       `json:"pods,omitempty"`
	Nth           int             `json:"nth,omitempty"`
	Unschedulable []string        `json:"unschedulable,omitempty"`
	Pending       []string        `json:"pending,omitempty"`
	Nanoseconds   int64           `json:"nanoseconds,omitempty"`
	Kind          string          `json:"kind,omitempty"`
	Old           json.RawMessage `json:"old,omitempty"`
	New           json.RawMessage `json:"new,omitempty"`
	MaxPriority   *int32          `json:"maxPriority,omitempty"`
}

// Answer is what a step came to: the pod that was popped, and the changed places.
type Answer struct {
	Popped  string             `json:"popped,omitempty"`
	Changed map[string]*string `json:"changed"`
}

type Result struct {
	Name     string   `json:"name"`
	Verdicts []Answer `json:"verdicts"`
	Error    string   `json:"error,omitempty"`
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

func evaluate(parent context.Context, c *Case) (res Result) {
	res.Name = c.Name
	defer func() {
		if r := recover(); r != nil {
			res.Error = fmt.Sprintf("panic: %v", r)
		}
	}()
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	restore, err := judging.SetGates(c.FeatureGates)
	if err != nil {
		res.Error = err.Error()
		return
	}
	defer restore()
	var objects []runtime.Object
	for _, some := range [][]runtime.Object{
		pointers(c.Services), pointers(c.ReplicaSets), pointers(c.StatefulSets), pointers(c.ReplicationControllers),
	} {
		objects = append(objects, some...)
	}
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	history, err := newHistory(ctx, client, factory, c.Config)
	if err != nil {
		res.Error = err.Error()
		return
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for i := range c.Steps {
		popped, err := history.take(ctx, &c.Steps[i])
		if err != nil {
			res.Error = fmt.Sprintf("step %d: %v", i, err)
			return
		}
		res.Verdicts = append(res.Verdicts, Answer{Popped: popped, Changed: history.changes()})
	}
	return
}

func main() {
	metrics.Register()
	ctx := context.Background()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	enc := json.NewEncoder(out)
	dec := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	for dec.More() {
		var c Case
		if err := dec.Decode(&c); err != nil {
			fmt.Fprintln(os.Stderr, "decode:", err)
			os.Exit(1)
		}
		enc.Encode(evaluate(ctx, &c))
		out.Flush()
	}
}
