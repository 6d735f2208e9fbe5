package judging

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// snapshot stands for kube-scheduler's own, which is internal in these versions.
type snapshot struct {
	all, affinity, antiAffinity []*framework.NodeInfo
	byName                      map[string]*framework.NodeInfo
	claims                      map[string]bool
}

func newSnapshot(pods []*v1.Pod, nodes []*v1.Node) *snapshot {
	s := &snapshot{byName: map[string]*framework.NodeInfo{}, claims: map[string]bool{}}
	images := imageStates(nodes)
	for _, n := range nodes {
		ni := framework.NewNodeInfo()
		ni.SetNode(n)
		ni.ImageStates = map[string]*framework.ImageStateSummary{}
		for _, im := range n.Status.Images {
			for _, name := range im.Names {
				ni.ImageStates[name] = images[name]
			}
		}
		s.byName[n.Name] = ni
		s.all = append(s.all, ni)
	}
	for _, p := range pods {
		if ni := s.byName[p.Spec.NodeName]; ni != nil {
			ni.AddPod(p)
			for _, v := range p.Spec.Volumes {
				if v.PersistentVolumeClaim != nil {
					s.claims[p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName] = true
				}
			}
		}
	}
	for _, ni := range s.all {
		if len(ni.PodsWithAffinity) > 0 {
			s.affinity = append(s.affinity, ni)
		}
		if len(ni.PodsWithRequiredAntiAffinity) > 0 {
			s.antiAffinity = append(s.antiAffinity, ni)
		}
	}
	return s
}

func (s *snapshot) NodeInfos() framework.NodeInfoLister                      { return s }
func (s *snapshot) StorageInfos() framework.StorageInfoLister                { return s }
func (s *snapshot) List() ([]*framework.NodeInfo, error)                     { return s.all, nil }
func (s *snapshot) HavePodsWithAffinityList() ([]*framework.NodeInfo, error) { return s.affinity, nil }
func (s *snapshot) HavePodsWithRequiredAntiAffinityList() ([]*framework.NodeInfo, error) {
	return s.antiAffinity, nil
}
func (s *snapshot) IsPVCUsedByPods(key string) bool { return s.claims[key] }
func (s *snapshot) Get(name string) (*framework.NodeInfo, error) {
	if ni := s.byName[name]; ni != nil {
		return ni, nil
	}
	return nil, fmt.Errorf("nodeinfo not found for node name %q", name)
}

func (j *judge) nodeInfos() []nodeInfo { return j.snapshot.all }
