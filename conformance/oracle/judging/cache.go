package judging

import (
	"context"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

// newCache is kube-scheduler's own, which keeps what nodes have in common: the sizes of their images.
func newCache(ctx context.Context) internalcache.Cache {
	enabled := utilfeature.DefaultFeatureGate.Enabled
	return internalcache.New(ctx, nil, enabled(features.GenericWorkload), enabled(features.CompositePodGroup))
}
