// Sequence: what kube-scheduler does one thing after another, on its own cache, queue's nominations, plugins and volume
// binder. stdin: one JSON sequence after another; stdout: one JSON answer per line.
//
// Each runs in a bubble of testing/synctest: there is nobody to wait for, what informers tell is told when Wait returns,
// and the second that the volume binder sleeps takes none.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"topospread.dev/oracle/judging"
)

// Sequence is a cluster and what happens to it, one thing after another.
type Sequence struct {
	judging.Case
	Steps []Step `json:"sequence"`
}

// Step is one of: a pod is tried (Choose: among equally good nodes; Fails: what goes wrong then), a pod that is pending
// is tried again, an object is put there or in place of the one of its name, an object is removed.
type Step struct {
	Schedule *v1.Pod         `json:"schedule,omitempty"`
	Again    string          `json:"again,omitempty"`
	Choose   string          `json:"choose,omitempty"`
	Fails    string          `json:"fails,omitempty"`
	Put      json.RawMessage `json:"put,omitempty"`
	Remove   *Named          `json:"remove,omitempty"`
}

// Named is an object by its name.
type Named struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Answer to one step: the verdict where a pod was tried, what came of it, and how claims and volumes stand now.
type Answer struct {
	*judging.Verdict
	Failed    string            `json:"failed,omitempty"`
	Evicted   []string          `json:"evicted,omitempty"`
	Nominated map[string]string `json:"nominated,omitempty"`
	Claims    map[string]string `json:"claims,omitempty"`
	Volumes   map[string]string `json:"volumes,omitempty"`
}

// Result holds one answer a step.
type Result struct {
	Name     string   `json:"name"`
	Verdicts []Answer `json:"verdicts"`
	Error    string   `json:"error,omitempty"`
}

func answer(t *testing.T, s *Sequence) (res Result) {
	res.Name = s.Name
	restore, err := judging.SetGates(s.FeatureGates)
	if err != nil {
		res.Error = err.Error()
		return
	}
	defer restore()
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if r := recover(); r != nil {
				res.Error = fmt.Sprintf("panic: %v", r)
			}
		}()
		w, err := begin(s)
		if w != nil {
			defer w.end()
		}
		if err != nil {
			res.Error = err.Error()
			return
		}
		for i := range s.Steps {
			a, err := w.step(&s.Steps[i])
			if err != nil {
				res.Error = fmt.Sprintf("step %d: %v", i, err)
				return
			}
			res.Verdicts = append(res.Verdicts, a)
		}
	})
	return
}

func main() {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // what goes wrong on purpose is logged, too
	metrics.Register()
	// The scheduler listens for a signal; what the runtime makes for the first who does so must belong to no bubble.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR2)
	out := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(out)
	dec := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	all := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "sequences", F: func(t *testing.T) {
		for dec.More() {
			var s Sequence
			if err := dec.Decode(&s); err != nil {
				out.Flush()
				fmt.Fprintln(os.Stderr, "decode:", err)
				os.Exit(1)
			}
			enc.Encode(answer(t, &s))
			out.Flush()
		}
		os.Exit(0) // before anybody prints PASS
	}}}, nil, nil)
}
