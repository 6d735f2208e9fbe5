package main

import (
	v1 "k8s.io/api/core/v1"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

type snapshot = internalcache.Snapshot

func newSnapshot(pods []*v1.Pod, nodes []*v1.Node) *snapshot {
	return internalcache.NewSnapshot(pods, nodes)
}

func (j *judge) nodeInfos() []nodeInfo {
	all, _ := j.snapshot.NodeInfos().List()
	return all
}
