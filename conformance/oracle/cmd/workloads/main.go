// Workloads says what the API server answers to a Pod or a workload (Deployment, ReplicaSet, StatefulSet, DaemonSet,
// ReplicationController, Job, CronJob) that is being created: defaulted, prepared and validated by its own strategy,
// privileged containers allowed. stdin: one JSON object per line; stdout: one JSON verdict per line, as of validate.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	core "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
)

// FieldError is one violation: Type and Field as the API server reports them.
type FieldError struct {
	Type    string `json:"type"`
	Field   string `json:"field"`
	Message string `json:"message"`
}
type Verdict struct {
	Errors []FieldError `json:"errors"`
	Decode string       `json:"decode,omitempty"`
}
type strategy interface {
	PrepareForCreate(ctx context.Context, obj runtime.Object)
	Validate(ctx context.Context, obj runtime.Object) field.ErrorList
}

func verdict(raw []byte) (v Verdict) {
	v.Errors = []FieldError{}
	defer func() {
		if r := recover(); r != nil {
			v.Decode = fmt.Sprintf("panic: %v", r)
		}
	}()
	obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		v.Decode = err.Error()
		return
	}
	legacyscheme.Scheme.Default(obj)
	internal, err := legacyscheme.Scheme.ConvertToVersion(obj, runtime.InternalGroupVersioner)
	if err != nil {
		v.Decode = err.Error()
		return
	}
	// The registry gives every object a uid before it validates; Jobs are labelled with theirs.
	if meta := internal.(metav1.Object); meta.GetUID() == "" {
		meta.SetUID("uid")
	}
	var s strategy
	switch internal.(type) {
	case *core.Pod:
		s = pod.Strategy
	case *core.ReplicationController:
		s = replicationcontroller.Strategy
	case *apps.Deployment:
		s = deployment.Strategy
	case *apps.ReplicaSet:
		s = replicaset.Strategy
	case *apps.StatefulSet:
		s = statefulset.Strategy
	case *apps.DaemonSet:
		s = daemonset.Strategy
	case *batch.Job:
		s = job.Strategy
	case *batch.CronJob:
		s = cronjob.Strategy
	}
	s.PrepareForCreate(context.Background(), internal)
	for _, e := range s.Validate(context.Background(), internal) {
		v.Errors = append(v.Errors, FieldError{string(e.Type), e.Field, e.Error()})
	}
	return
}

func main() {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	enc := json.NewEncoder(out)
	dec := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			fmt.Fprintln(os.Stderr, "decode:", err)
			os.Exit(1)
		}
		v := verdict(raw)
		slices.SortFunc(v.Errors, func(a, b FieldError) int { return strings.Compare(a.Message, b.Message) })
		v.Errors = slices.Compact(v.Errors)
		enc.Encode(v)
	}
}
