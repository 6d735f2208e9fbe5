package main

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// decode reads a step's objects.
func decode(s *Step, old, changed runtime.Object) error {
	if len(s.Old) > 0 {
		if err := json.Unmarshal(s.Old, old); err != nil {
			return err
		}
	}
	if len(s.New) > 0 {
		return json.Unmarshal(s.New, changed)
	}
	return nil
}

// made is an empty object of a kind.
func made(kind string) (runtime.Object, error) {
	switch kind {
	case "Pod":
		return &v1.Pod{}, nil
	case "Node":
		return &v1.Node{}, nil
	case "PersistentVolume":
		return &v1.PersistentVolume{}, nil
	case "PersistentVolumeClaim":
		return &v1.PersistentVolumeClaim{}, nil
	case "StorageClass":
		return &storagev1.StorageClass{}, nil
	case "CSINode":
		return &storagev1.CSINode{}, nil
	case "CSIDriver":
		return &storagev1.CSIDriver{}, nil
	case "CSIStorageCapacity":
		return &storagev1.CSIStorageCapacity{}, nil
	case "VolumeAttachment":
		return &storagev1.VolumeAttachment{}, nil
	}
	return nil, fmt.Errorf("no such kind: %q", kind)
}

// resources are what events of a kind are called.
var resources = map[string]fwk.EventResource{
	"Pod":                   fwk.AssignedPod,
	"Node":                  fwk.Node,
	"PersistentVolume":      fwk.PersistentVolume,
	"PersistentVolumeClaim": fwk.PersistentVolumeClaim,
	"StorageClass":          fwk.StorageClass,
	"CSINode":               fwk.CSINode,
	"CSIDriver":             fwk.CSIDriver,
	"CSIStorageCapacity":    fwk.CSIStorageCapacity,
	"VolumeAttachment":      fwk.VolumeAttachment,
}

// happen tells the queue of an object that came, changed or went, as pkg/scheduler/eventhandlers.go does.
func (h *history) happen(s *Step) error {
	old, err := made(s.Kind)
	if err != nil {
		return err
	}
	changed, _ := made(s.Kind)
	if err := decode(s, old, changed); err != nil {
		return err
	}
	var before, after interface{}
	if len(s.Old) > 0 {
		before = old
	}
	if len(s.New) > 0 {
		after = changed
	}
	for _, event := range events(s.Kind, before, after) {
		h.queue.MoveAllToActiveOrBackoffQueue(h.logger, event, before, after, lowerOrEqual(s.MaxPriority))
	}
	return nil
}

func events(kind string, before, after interface{}) []fwk.ClusterEvent {
	resource := resources[kind]
	switch {
	case before == nil:
		return []fwk.ClusterEvent{{Resource: resource, ActionType: fwk.Add}}
	case after == nil:
		return []fwk.ClusterEvent{{Resource: resource, ActionType: fwk.Delete}}
	case kind == "Node":
		return framework.NodeSchedulingPropertiesChange(after.(*v1.Node), before.(*v1.Node))
	case kind == "Pod":
		return framework.PodSchedulingPropertiesChange(after.(*v1.Pod), before.(*v1.Pod), false)
	}
	return []fwk.ClusterEvent{{Resource: resource, ActionType: fwk.Update}}
}
