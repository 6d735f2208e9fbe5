// Podsecurity: says why a Pod Security level refuses a Pod. stdin: {"level", "version", "pod"} a line; stdout: {"message"}
// or {"error"} a line. The Pod is decoded, defaulted and prepared for its creation as the API server does it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

type question struct {
	Level, Version string
	Pod            json.RawMessage
}

func message(evaluator policy.Evaluator, asked question) (string, error) {
	obj, _, err := legacyscheme.Codecs.UniversalDecoder(core.SchemeGroupVersion).Decode(asked.Pod, nil, nil)
	if err != nil {
		return "", err
	}
	podregistry.Strategy.PrepareForCreate(context.Background(), obj.(*core.Pod))
	pod := &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(obj, pod, nil); err != nil {
		return "", err
	}
	level, err := api.ParseLevel(asked.Level)
	if err != nil {
		return "", err
	}
	version, err := api.ParseVersion(asked.Version)
	if err != nil {
		return "", err
	}
	lv := api.LevelVersion{Level: level, Version: version}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(lv, &pod.ObjectMeta, &pod.Spec))
	if result.Allowed {
		return "", nil
	}
	return fmt.Sprintf("violates PodSecurity %q: %s", lv.String(), result.ForbiddenDetail()), nil
}

func main() {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(bufio.NewReader(os.Stdin))
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for decoder.More() {
		var asked question
		if err := decoder.Decode(&asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		answer := map[string]string{}
		if words, err := message(evaluator, asked); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["message"] = words
		}
		if err := encoder.Encode(answer); err != nil {
			os.Exit(1)
		}
	}
}
