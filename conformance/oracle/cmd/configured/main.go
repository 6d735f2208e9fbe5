// Configured: says what kube-scheduler makes of a KubeSchedulerConfiguration. stdin: one a line, in any version that
// this Kubernetes serves; stdout: {"defaulted"} in the same version, {"errors"} of its validation, or {"decode"}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

type problem struct {
	Type    string `json:"type"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

type answer struct {
	Errors    []problem       `json:"errors"`
	Decode    string          `json:"decode,omitempty"`
	Defaulted json.RawMessage `json:"defaulted,omitempty"`
}

// listed takes what validation returns: a list until 1.21, an aggregate since.
func listed(found interface{}) (errs []error) {
	switch found := found.(type) {
	case field.ErrorList:
		for _, err := range found {
			errs = append(errs, err)
		}
	case interface{ Errors() []error }:
		errs = found.Errors()
	}
	return
}

func configured(raw []byte) (a answer) {
	a.Errors = []problem{}
	defer func() {
		if r := recover(); r != nil {
			a.Decode = fmt.Sprintf("panic: %v", r)
		}
	}()
	obj, gvk, err := scheme.Codecs.UniversalDecoder().Decode(raw, nil, nil)
	if err != nil {
		a.Decode = err.Error()
		return
	}
	c, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		a.Decode = fmt.Sprintf("not a KubeSchedulerConfiguration: %T", obj)
		return
	}
	c.APIVersion = gvk.GroupVersion().String()
	for _, err := range listed(validation.ValidateKubeSchedulerConfiguration(c)) {
		if one, ok := err.(*field.Error); ok {
			a.Errors = append(a.Errors, problem{string(one.Type), one.Field, one.Error()})
		} else {
			a.Errors = append(a.Errors, problem{Message: err.Error()})
		}
	}
	c.APIVersion = ""
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	group := schema.GroupVersion{Group: gvk.Group, Version: gvk.Version}
	a.Defaulted, err = runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, group), c)
	if err != nil {
		a.Defaulted = nil
		a.Decode = "encode: " + err.Error()
	}
	return
}

func main() {
	decoder := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			fmt.Fprintln(os.Stderr, err)
			out.Flush()
			os.Exit(1)
		}
		if err := encoder.Encode(configured(raw)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}
