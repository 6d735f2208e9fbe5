// Command endpoints answers where requests to a Service go: the hints that the EndpointSlice controller's own packages put
// on its endpoints, and the endpoints that kube-proxy's own code chooses on every node. One JSON object a line.
//
//	in:  {"service": Service, "nodes": [Node], "endpoints": [{"pod", "node", "zone", "ready"}]}
//	out: {"zones": [hint of each endpoint], "nodes": [likewise], "chosen": {node: [pods]}}
package main

import (
	"bufio"
	"encoding/json"
	"os"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/endpointslice/topologycache"
	"k8s.io/endpointslice/trafficdist"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/proxy"
)

type given struct {
	Service   *v1.Service `json:"service"`
	Nodes     []*v1.Node  `json:"nodes"`
	Endpoints []struct {
		Pod   string `json:"pod"`
		Node  string `json:"node"`
		Zone  string `json:"zone"`
		Ready bool   `json:"ready"`
	} `json:"endpoints"`
}

type answer struct {
	Zones  []string            `json:"zones"`
	Nodes  []string            `json:"nodes"`
	Chosen map[string][]string `json:"chosen"`
}

// endpoint is one as kube-proxy of a node sees it; a pod that is not ready here is terminating and serves still.
type endpoint struct {
	proxy.Endpoint
	pod          string
	local, ready bool
	zones, nodes sets.Set[string]
}

func (e endpoint) String() string              { return e.pod }
func (e endpoint) IsLocal() bool               { return e.local }
func (e endpoint) IsReady() bool               { return e.ready }
func (e endpoint) IsServing() bool             { return true }
func (e endpoint) IsTerminating() bool         { return !e.ready }
func (e endpoint) ZoneHints() sets.Set[string] { return e.zones }
func (e endpoint) NodeHints() sets.Set[string] { return e.nodes }

type port struct {
	proxy.ServicePort
	local bool
}

func (p port) UsesClusterEndpoints() bool { return !p.local }
func (p port) UsesLocalEndpoints() bool   { return p.local }
func (p port) String() string             { return "service" }

func main() {
	klog.SetOutput(os.Stderr)
	klog.LogToStderr(false)
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(make([]byte, 1<<20), 1<<26)
	out := json.NewEncoder(os.Stdout)
	for scanner.Scan() {
		var asked given
		if err := json.Unmarshal(scanner.Bytes(), &asked); err != nil {
			panic(err)
		}
		if err := out.Encode(judge(asked)); err != nil {
			panic(err)
		}
	}
}

func judge(asked given) answer {
	slice := slice(asked)
	hint(asked, slice)
	found := answer{Chosen: map[string][]string{}}
	for _, each := range slice.Endpoints {
		zone, node := "", ""
		if each.Hints != nil && len(each.Hints.ForZones) > 0 {
			zone = each.Hints.ForZones[0].Name
		}
		if each.Hints != nil && len(each.Hints.ForNodes) > 0 {
			node = each.Hints.ForNodes[0].Name
		}
		found.Zones, found.Nodes = append(found.Zones, zone), append(found.Nodes, node)
	}
	local := asked.Service.Spec.InternalTrafficPolicy != nil && *asked.Service.Spec.InternalTrafficPolicy == v1.ServiceInternalTrafficPolicyLocal
	for _, node := range asked.Nodes {
		endpoints := []proxy.Endpoint{}
		for i, each := range asked.Endpoints {
			one := endpoint{pod: each.Pod, local: each.Node == node.Name, ready: each.Ready, zones: sets.New[string](), nodes: sets.New[string]()}
			if found.Zones[i] != "" {
				one.zones.Insert(found.Zones[i])
			}
			if found.Nodes[i] != "" {
				one.nodes.Insert(found.Nodes[i])
			}
			endpoints = append(endpoints, one)
		}
		cluster, own, _, _ := proxy.CategorizeEndpoints(endpoints, port{local: local}, node.Name, node.Labels)
		chosen := cluster
		if local {
			chosen = own
		}
		names := []string{}
		for _, each := range chosen {
			names = append(names, each.String())
		}
		found.Chosen[node.Name] = names
	}
	return found
}

func slice(asked given) *discovery.EndpointSlice {
	made := &discovery.EndpointSlice{AddressType: discovery.AddressTypeIPv4}
	for _, each := range asked.Endpoints {
		ready, node, zone := each.Ready, each.Node, each.Zone
		one := discovery.Endpoint{NodeName: &node, Conditions: discovery.EndpointConditions{Ready: &ready}}
		if zone != "" {
			one.Zone = &zone
		}
		made.Endpoints = append(made.Endpoints, one)
	}
	return made
}

// hint is what Reconciler.reconcileByAddressType does with the slices of a new Service.
func hint(asked given, slice *discovery.EndpointSlice) {
	auto, ok := asked.Service.Annotations[v1.DeprecatedAnnotationTopologyAwareHints]
	if !ok {
		auto = asked.Service.Annotations[v1.AnnotationTopologyMode]
	}
	if auto == "Auto" || auto == "auto" {
		cache := topologycache.NewTopologyCache()
		cache.SetNodes(klog.Background(), asked.Nodes)
		info := &topologycache.SliceInfo{ServiceKey: "service", AddressType: slice.AddressType, ToCreate: []*discovery.EndpointSlice{slice}}
		cache.AddHints(klog.Background(), info)
		return
	}
	trafficdist.ReconcileHints(asked.Service.Spec.TrafficDistribution, []*discovery.EndpointSlice{slice}, nil, nil)
}
