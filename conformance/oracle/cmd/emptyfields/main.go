// Emptyfields prints which fields the API server leaves out when they are zero, and which it always writes, JSON, one
// struct a line: go run ./cmd/emptyfields > ../../src/topospread/admission/empty_fields.json
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

type row struct {
	// Omitted fields are left out when they are zero, or empty.
	Omitted string `json:"omitted,omitempty"`
	// Written fields are there when nothing is given.
	Written string `json:"written,omitempty"`
}

var rows = map[string]row{}

func visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		visit(t.Elem())
	case reflect.Struct:
		if t.PkgPath() == "k8s.io/apimachinery/pkg/api/resource" || t.PkgPath() == "time" {
			return
		}
		if _, ok := rows[t.Name()]; !ok {
			rows[t.Name()] = row{}
			var omitted, written []string
			fields(t, &omitted, &written)
			slices.Sort(omitted)
			slices.Sort(written)
			rows[t.Name()] = row{strings.Join(omitted, " "), strings.Join(written, " ")}
		}
	}
}

func fields(t reflect.Type, omitted, written *[]string) {
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		visit(f.Type)
		if f.Anonymous && name == "" {
			fields(f.Type, omitted, written)
		} else if name != "" && name != "-" && f.Type.Kind() != reflect.Pointer {
			isStruct := f.Type.Kind() == reflect.Struct
			if strings.Contains(options, "omitzero") || strings.Contains(options, "omitempty") && !isStruct {
				*omitted = append(*omitted, name)
			} else {
				*written = append(*written, name)
			}
		}
	}
}

func main() {
	for _, t := range []any{corev1.Pod{}, corev1.ReplicationController{}, appsv1.Deployment{}, appsv1.ReplicaSet{},
		appsv1.StatefulSet{}, appsv1.DaemonSet{}, batchv1.Job{}, batchv1.CronJob{}, corev1.Namespace{}} {
		visit(reflect.TypeOf(t))
	}
	maps.DeleteFunc(rows, func(_ string, one row) bool { return one == row{} })
	names := slices.Sorted(maps.Keys(rows))
	for i, name := range names {
		line, err := json.Marshal(rows[name])
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
