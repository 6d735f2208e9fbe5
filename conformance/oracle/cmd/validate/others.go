package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	"k8s.io/kubernetes/pkg/apis/storage"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
)

// strategyOf is how the API server creates an object of a kind besides Pods; nil for kinds that are not judged.
func strategyOf(obj runtime.Object) rest.RESTCreateStrategy {
	switch obj.(type) {
	case *core.Node:
		return node.Strategy
	case *core.Service:
		return service.Strategy
	case *policy.PodDisruptionBudget:
		return poddisruptionbudget.Strategy
	case *scheduling.PriorityClass:
		return priorityclass.Strategy
	case *storage.StorageClass:
		return storageclass.Strategy
	}
	return nil
}

// created is what the API server says when the object is created, its own rules and the common ones.
func created(obj runtime.Object, strategy rest.RESTCreateStrategy, version schema.GroupVersion) field.ErrorList {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		panic(err)
	}
	ctx := genericapirequest.WithNamespace(context.Background(), accessor.GetNamespace())
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		Verb: "create", APIGroup: version.Group, APIVersion: version.Version,
	})
	rest.FillObjectMetaSystemFields(accessor)
	strategy.PrepareForCreate(ctx, obj)
	return rest.ValidateCreate(ctx, obj, strategy)
}
