package judging

import (
	"context"

	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

func newCache(ctx context.Context) internalcache.Cache { return internalcache.New(ctx, 0, nil) }
