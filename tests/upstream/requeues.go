// Added to k8s.io/kubernetes/test/integration/scheduler/queueing by build_judge.py: with EXTERNAL_SCHEDULER, the cases of
// CoreResourceEnqueueTestCases are judged by which pods the external scheduler tries again after the event. Its log has
// to say `"Attempting to schedule pod" pod="ns/name"`, as kube-scheduler's does from -v 3 on.
package queueing

import (
	"context"
	"os"
	"regexp"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kubernetes/pkg/scheduler"
	testutils "k8s.io/kubernetes/test/integration/util"
)

const (
	starting = 60 * time.Second // an external scheduler is a process that has to start
	gated    = 10 * time.Second // and says nothing of pods that it does not try
	handling = 15 * time.Second
	settling = 2 * time.Second
)

var attempted = regexp.MustCompile(`"Attempting to schedule pod" pod="[^/"]*/([^"]+)"`)

func attempts(file string) map[string]int {
	found := map[string]int{}
	text, err := os.ReadFile(file)
	if err == nil {
		for _, each := range attempted.FindAllSubmatch(text, -1) {
			found[string(each[1])]++
		}
	}
	return found
}

func judgeRequeues(t *testing.T, testCtx *testutils.TestContext, tt *CoreResourceEnqueueTestCase) {
	t.Helper()
	go testCtx.Scheduler.Run(testCtx.SchedulerCtx)
	log := func() map[string]int { return attempts(scheduler.ExternalLog(testCtx.Scheduler)) }
	if tt.ExpectedInitialRejectingPhase == rejectingPhasePreEnqueue {
		time.Sleep(gated)
	} else if err := wait.PollUntilContextTimeout(testCtx.Ctx, 200*time.Millisecond, starting, false, func(context.Context) (bool, error) {
		found := log()
		for _, pod := range tt.Pods {
			if found[pod.Name] == 0 {
				return false, nil
			}
		}
		return true, nil
	}); err != nil {
		t.Fatalf("Not all pods were tried: %v", log())
	}
	time.Sleep(settling)
	before := log()
	if _, err := tt.TriggerFn(testCtx); err != nil {
		t.Fatalf("Failed to trigger the event: %v", err)
	}
	requeued := sets.Set[string]{}
	_ = wait.PollUntilContextTimeout(testCtx.Ctx, 200*time.Millisecond, handling, false, func(context.Context) (bool, error) {
		requeued = again(tt, before, log())
		return requeued.Equal(tt.WantRequeuedPods) && requeued.Len() > 0, nil
	})
	time.Sleep(settling)
	if requeued = again(tt, before, log()); !requeued.Equal(tt.WantRequeuedPods) {
		t.Fatalf("Expect Pods %v to be requeued, but %v are", tt.WantRequeuedPods, requeued)
	}
}

// again is the pods of a case that were tried more often than before; those that only came with the event are not meant.
func again(tt *CoreResourceEnqueueTestCase, before, now map[string]int) sets.Set[string] {
	found := sets.Set[string]{}
	for name, count := range now {
		if count > before[name] && (before[name] > 0 || tt.WantRequeuedPods.Has(name)) {
			found.Insert(name)
		}
	}
	return found
}
