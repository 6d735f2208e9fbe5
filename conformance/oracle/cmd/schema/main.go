// Schema prints the fields of the kinds that are read as the API server decodes them, JSON, one struct a line:
// go run ./cmd/schema > ../../src/topospread/api/validation/schema.json
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// leaves decode themselves.
var leaves = map[reflect.Type]string{
	reflect.TypeOf(resource.Quantity{}):    "quantity",
	reflect.TypeOf(metav1.Time{}):          "time",
	reflect.TypeOf(metav1.MicroTime{}):     "microtime",
	reflect.TypeOf(intstr.IntOrString{}):   "intorstring",
	reflect.TypeOf(metav1.FieldsV1{}):      "any",
	reflect.TypeOf(runtime.RawExtension{}): "any",
	// It holds itself.
	reflect.TypeOf(schedulingv1beta1.CompositePodGroupTemplate{}): "any",
}

// renamed structs have the name of another one: of a claim in a container's resources.
var renamed = map[reflect.Type]string{reflect.TypeOf(resourcev1.ResourceClaim{}): "ResourceClaimObject"}

var structs = map[string]map[string]string{}

func name(t reflect.Type) string {
	if s, ok := leaves[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return name(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + name(t.Elem())
	case reflect.Map:
		return "map " + name(t.Elem())
	case reflect.Struct:
		called := t.Name()
		if other, ok := renamed[t]; ok {
			called = other
		}
		if _, ok := structs[called]; !ok {
			structs[called] = map[string]string{}
			fields(t, structs[called])
		}
		return called
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	}
	panic(fmt.Sprint(t))
}

func fields(t reflect.Type, out map[string]string) {
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		if f.Anonymous && tag[0] == "" {
			fields(f.Type, out)
			continue
		}
		if tag[0] == "-" || tag[0] == "" {
			continue
		}
		out[tag[0]] = name(f.Type)
	}
}

func main() {
	for _, t := range []any{corev1.Pod{}, corev1.ReplicationController{}, appsv1.Deployment{}, appsv1.ReplicaSet{},
		appsv1.StatefulSet{}, appsv1.DaemonSet{}, batchv1.Job{}, batchv1.CronJob{}, corev1.Node{}, corev1.Namespace{},
		corev1.Service{}, corev1.PersistentVolume{}, corev1.PersistentVolumeClaim{}, corev1.LimitRange{}, corev1.ResourceQuota{},
		policyv1.PodDisruptionBudget{}, schedulingv1.PriorityClass{}, storagev1.StorageClass{}, storagev1.CSINode{},
		storagev1.CSIDriver{}, storagev1.CSIStorageCapacity{}, storagev1.VolumeAttachment{},
		nodev1.RuntimeClass{}, autoscalingv2.HorizontalPodAutoscaler{}, resourcev1.DeviceClass{},
		resourcev1.ResourceSlice{}, resourcev1.ResourceClaim{}, resourcev1.ResourceClaimTemplate{},
		resourcev1.DeviceTaintRule{}, schedulingv1beta1.Workload{}, schedulingv1beta1.PodGroup{},
		admissionv1.ValidatingAdmissionPolicy{}, admissionv1.ValidatingAdmissionPolicyBinding{},
		admissionv1.MutatingAdmissionPolicy{}, admissionv1.MutatingAdmissionPolicyBinding{}} {
		name(reflect.TypeOf(t))
	}
	names := slices.Sorted(maps.Keys(structs))
	for i, name := range names {
		// encoding/json sorts the fields.
		line, err := json.Marshal(structs[name])
		if err != nil {
			panic(err)
		}
		opening, end := " ", ","
		if i == 0 {
			opening = "{\n "
		}
		if i == len(names)-1 {
			end = "\n}"
		}
		fmt.Printf("%s%q: %s%s\n", opening, name, line, end)
	}
}
