// Created: says what the API server stores of a Pod that is created. stdin: one Pod a line; stdout: the Pod after
// decoding, defaulting and the strategy's PrepareForCreate, as v1, one a line, or {"error"}. No admission plugin, no
// validation. -feature-gates A=true,B=false as for kube-apiserver.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
)

func created(raw []byte) ([]byte, error) {
	obj, _, err := legacyscheme.Codecs.UniversalDecoder(core.SchemeGroupVersion).Decode(raw, nil, nil)
	if err != nil {
		return nil, err
	}
	pod, ok := obj.(*core.Pod)
	if !ok {
		return nil, fmt.Errorf("not a pod: %T", obj)
	}
	podregistry.Strategy.PrepareForCreate(context.Background(), pod)
	return runtime.Encode(legacyscheme.Codecs.LegacyCodec(v1.SchemeGroupVersion), pod)
}

func main() {
	gates := flag.String("feature-gates", "", "A=true,B=false")
	flag.Parse()
	if *gates != "" {
		if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	decoder := json.NewDecoder(in)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			fmt.Fprintln(os.Stderr, err)
			out.Flush()
			os.Exit(1)
		}
		pod, err := created(raw)
		if err != nil {
			pod, _ = json.Marshal(map[string]string{"error": err.Error()})
			pod = append(pod, '\n')
		}
		out.Write(pod)
	}
}
