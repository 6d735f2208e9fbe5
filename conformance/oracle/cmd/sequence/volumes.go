package main

import (
	"slices"
	"strings"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	csitranslation "k8s.io/csi-translation-lib"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/features"
)

// The controllers of volumes, played: the PV controller (pkg/controller/volume/persistentvolume/pv_controller.go) and,
// where it asks for a new volume, the provisioner behind the driver. Volumes and claims are taken in the order of their
// names, again and again until nothing changes.

// provisionedBy marks volumes that were made for a claim.
const provisionedBy = storagehelpers.AnnDynamicallyProvisioned

func (w *world) claims() []*v1.PersistentVolumeClaim {
	return sorted[*v1.PersistentVolumeClaim](w, v1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
}

func (w *world) volumes() []*v1.PersistentVolume {
	return sorted[*v1.PersistentVolume](w, v1.SchemeGroupVersion.WithKind("PersistentVolume"))
}

// bindVolumes lets the controllers do what is to be done now; fails "provision": no volume can be made for a pod.
func (w *world) bindVolumes(fails string) error {
	synctest.Wait()
	for before := -1; before != w.version; {
		before = w.version
		for _, volume := range w.volumes() {
			if err := w.syncVolume(volume.DeepCopy()); err != nil {
				return err
			}
		}
		for _, claim := range w.claims() {
			if err := w.syncClaim(claim.DeepCopy(), fails); err != nil {
				return err
			}
		}
	}
	synctest.Wait()
	return nil
}

// syncVolume: a volume is available, bound to its claim, released by it, or was meant for it in vain.
func (w *world) syncVolume(volume *v1.PersistentVolume) error {
	was := volume.DeepCopy()
	reference := volume.Spec.ClaimRef
	if reference == nil || reference.UID == "" {
		volume.Status.Phase = v1.VolumeAvailable
		return w.saveVolume(was, volume)
	}
	claim := w.claim(reference.Namespace, reference.Name)
	deletes := volume.Spec.PersistentVolumeReclaimPolicy == v1.PersistentVolumeReclaimDelete
	made := metav1.HasAnnotation(volume.ObjectMeta, provisionedBy)
	switch {
	case claim == nil || claim.UID != reference.UID:
		if made && deletes {
			return w.removed(&Named{Kind: "PersistentVolume", Name: volume.Name})
		}
		if volume.Status.Phase != v1.VolumeFailed {
			volume.Status.Phase = v1.VolumeReleased
		}
	case claim.Spec.VolumeName == "":
		return nil // the claim's turn
	case claim.Spec.VolumeName == volume.Name:
		volume.Status.Phase = v1.VolumeBound
	case made && deletes:
		return w.removed(&Named{Kind: "PersistentVolume", Name: volume.Name})
	case metav1.HasAnnotation(volume.ObjectMeta, storagehelpers.AnnBoundByController):
		volume.Spec.ClaimRef = nil
		delete(volume.Annotations, storagehelpers.AnnBoundByController)
		volume.Status.Phase = v1.VolumeAvailable
	default:
		volume.Spec.ClaimRef.UID = ""
		volume.Status.Phase = v1.VolumeAvailable
	}
	return w.saveVolume(was, volume)
}

// syncClaim: syncUnboundClaim and syncBoundClaim.
func (w *world) syncClaim(claim *v1.PersistentVolumeClaim, fails string) error {
	volume := w.volume(claim.Spec.VolumeName)
	if metav1.HasAnnotation(claim.ObjectMeta, storagehelpers.AnnBindCompleted) {
		if volume == nil || (volume.Spec.ClaimRef != nil && volume.Spec.ClaimRef.UID != claim.UID) {
			return w.phase(claim, v1.ClaimLost)
		}
		return w.bindClaim(claim, volume)
	}
	if claim.Spec.VolumeName != "" {
		if volume == nil {
			return w.phase(claim, v1.ClaimPending)
		}
		mine := storagehelpers.IsVolumeBoundToClaim(volume, claim)
		if mine || volume.Spec.ClaimRef == nil && satisfies(volume, claim) {
			return w.bindClaim(claim, volume)
		}
		return w.phase(claim, v1.ClaimPending)
	}
	waits, err := storagehelpers.IsDelayBindingMode(claim, w.factory.Storage().V1().StorageClasses().Lister())
	if err != nil {
		return nil // VolumeBindingMode is not set: an event is all that comes of it
	}
	if volume, err = w.match(claim, waits); volume != nil || err != nil {
		if err != nil {
			return nil // the claim is refused, for its selector or VolumeAttributesClass
		}
		return w.bindClaim(claim, volume)
	}
	if !waits || storagehelpers.IsDelayBindingProvisioning(claim) {
		if done, err := w.provision(claim, fails); done || err != nil {
			return err
		}
	}
	return w.phase(claim, v1.ClaimPending)
}

// match is the volume that is promised to the claim, else the smallest of those with the fewest access modes
// (index.go, findByClaim); where the claim waits for a pod, only a promised one.
func (w *world) match(claim *v1.PersistentVolumeClaim, waits bool) (*v1.PersistentVolume, error) {
	byModes := map[string][]*v1.PersistentVolume{}
	for _, volume := range w.volumes() {
		if storagehelpers.CheckAccessModes(claim, volume) {
			modes := v1helper.GetAccessModesAsString(volume.Spec.AccessModes)
			byModes[modes] = append(byModes[modes], volume)
		}
	}
	keys := []string{}
	for modes := range byModes {
		keys = append(keys, modes)
	}
	slices.Sort(keys)
	slices.SortStableFunc(keys, func(a, b string) int { return strings.Count(a, ",") - strings.Count(b, ",") })
	classes := utilfeature.DefaultFeatureGate.Enabled(features.VolumeAttributesClass)
	for _, modes := range keys {
		found, err := storagehelpers.FindMatchingVolume(claim, byModes[modes], nil, nil, waits, classes)
		if found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// satisfies is checkVolumeSatisfyClaim.
func satisfies(volume *v1.PersistentVolume, claim *v1.PersistentVolumeClaim) bool {
	asked, has := claim.Spec.Resources.Requests[v1.ResourceStorage], volume.Spec.Capacity[v1.ResourceStorage]
	askedClass, hasClass := "", ""
	if name := claim.Spec.VolumeAttributesClassName; name != nil {
		askedClass = *name
	}
	if name := volume.Spec.VolumeAttributesClassName; name != nil {
		hasClass = *name
	}
	enabled := utilfeature.DefaultFeatureGate.Enabled(features.VolumeAttributesClass)
	return volume.DeletionTimestamp == nil &&
		has.Value() >= asked.Value() &&
		storagehelpers.GetPersistentVolumeClass(volume) == storagehelpers.GetPersistentVolumeClaimClass(claim) &&
		askedClass == hasClass && (enabled || askedClass == "") &&
		!storagehelpers.CheckVolumeModeMismatches(&claim.Spec, &volume.Spec) &&
		storagehelpers.CheckAccessModes(claim, volume)
}

// bindClaim writes the binding into both objects (bind).
func (w *world) bindClaim(claim *v1.PersistentVolumeClaim, volume *v1.PersistentVolume) error {
	bound, _, err := storagehelpers.GetBindVolumeToClaim(volume, claim)
	if err != nil {
		return err
	}
	bound.Status.Phase = v1.VolumeBound
	if err := w.saveVolume(volume, bound); err != nil {
		return err
	}
	was := claim.DeepCopy()
	if claim.Spec.VolumeName != volume.Name {
		claim.Spec.VolumeName = volume.Name
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, storagehelpers.AnnBoundByController, "yes")
	}
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, storagehelpers.AnnBindCompleted, "yes")
	claim.Status.Phase = v1.ClaimBound
	return w.saveClaim(was, claim)
}

// provision makes a volume for a claim if its class names a provisioner; it can be reached from wherever `reach` says.
// Where none can be made for the node that was selected, the claim goes back to the scheduler.
func (w *world) provision(claim *v1.PersistentVolumeClaim, fails string) (bool, error) {
	class, err := w.factory.Storage().V1().StorageClasses().Lister().Get(storagehelpers.GetPersistentVolumeClaimClass(claim))
	if err != nil || class.Provisioner == "" || class.Provisioner == storagehelpers.NotSupportedProvisioner {
		return false, nil
	}
	node, selected := claim.Annotations[storagehelpers.AnnSelectedNode]
	if selected && fails == "provision" {
		was := claim.DeepCopy()
		delete(claim.Annotations, storagehelpers.AnnSelectedNode)
		return true, w.saveClaim(was, claim)
	}
	driver := class.Provisioner
	if name, err := csitranslation.New().GetCSINameFromInTreeName(driver); err == nil {
		driver = name
	}
	policy := v1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		policy = *class.ReclaimPolicy
	}
	name := "pvc-" + string(claim.UID)
	volume := &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: driver}},
		Spec: v1.PersistentVolumeSpec{
			Capacity:                      claim.Spec.Resources.Requests,
			AccessModes:                   claim.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: policy,
			StorageClassName:              class.Name,
			VolumeMode:                    claim.Spec.VolumeMode,
			VolumeAttributesClassName:     claim.Spec.VolumeAttributesClassName,
			ClaimRef: &v1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			NodeAffinity: w.reach(class, driver, node),
			PersistentVolumeSource: v1.PersistentVolumeSource{
				CSI: &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name},
			},
		},
		Status: v1.PersistentVolumeStatus{Phase: v1.VolumeBound},
	}
	if err := w.put(volume); err != nil {
		return true, err
	}
	return true, w.bindClaim(claim, w.volume(name))
}

// reach is what no object says, as a driver decides it: from where a new volume can be used. Assumed: by nodes that
// agree with the selected one in the driver's topology keys, else in those of the class's topologies, else in the zone;
// without a selected node, wherever the class allows.
func (w *world) reach(class *storagev1.StorageClass, driver, selected string) *v1.VolumeNodeAffinity {
	terms := []v1.NodeSelectorTerm{}
	if selected == "" {
		for _, term := range class.AllowedTopologies {
			asks := []v1.NodeSelectorRequirement{}
			for _, each := range term.MatchLabelExpressions {
				asks = append(asks, v1.NodeSelectorRequirement{Key: each.Key, Operator: v1.NodeSelectorOpIn, Values: each.Values})
			}
			terms = append(terms, v1.NodeSelectorTerm{MatchExpressions: asks})
		}
	} else if agree := w.agreeing(class, driver, selected); len(agree) > 0 {
		terms = append(terms, v1.NodeSelectorTerm{MatchExpressions: agree})
	}
	if len(terms) == 0 {
		return nil
	}
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: terms}}
}

func (w *world) agreeing(class *storagev1.StorageClass, driver, selected string) (agree []v1.NodeSelectorRequirement) {
	node, err := w.factory.Core().V1().Nodes().Lister().Get(selected)
	if err != nil {
		return nil
	}
	for _, key := range w.topologyKeys(class, driver, selected) {
		if value, ok := node.Labels[key]; ok {
			agree = append(agree, v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}})
		}
	}
	return agree
}

func (w *world) topologyKeys(class *storagev1.StorageClass, driver, selected string) (keys []string) {
	if csiNode, err := w.factory.Storage().V1().CSINodes().Lister().Get(selected); err == nil {
		for _, each := range csiNode.Spec.Drivers {
			if each.Name == driver {
				return each.TopologyKeys
			}
		}
	}
	for _, term := range class.AllowedTopologies {
		for _, each := range term.MatchLabelExpressions {
			if !slices.Contains(keys, each.Key) {
				keys = append(keys, each.Key)
			}
		}
	}
	if len(keys) == 0 {
		keys = []string{v1.LabelTopologyZone}
	}
	return keys
}

func (w *world) claim(namespace, name string) *v1.PersistentVolumeClaim {
	object, err := w.client.Tracker().Get(v1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), namespace, name)
	if err != nil {
		return nil
	}
	return object.(*v1.PersistentVolumeClaim)
}

func (w *world) volume(name string) *v1.PersistentVolume {
	object, err := w.client.Tracker().Get(v1.SchemeGroupVersion.WithResource("persistentvolumes"), "", name)
	if err != nil || name == "" {
		return nil
	}
	return object.(*v1.PersistentVolume)
}

func (w *world) phase(claim *v1.PersistentVolumeClaim, phase v1.PersistentVolumeClaimPhase) error {
	was := claim.DeepCopy()
	claim.Status.Phase = phase
	return w.saveClaim(was, claim)
}

func (w *world) saveClaim(was, claim *v1.PersistentVolumeClaim) error {
	if equality.Semantic.DeepEqual(was, claim) {
		return nil
	}
	return w.put(claim)
}

func (w *world) saveVolume(was, volume *v1.PersistentVolume) error {
	if equality.Semantic.DeepEqual(was, volume) {
		return nil
	}
	return w.put(volume)
}

func claimState(claim *v1.PersistentVolumeClaim) string {
	state := string(claim.Status.Phase)
	if claim.Spec.VolumeName != "" {
		state += " " + claim.Spec.VolumeName
	}
	if node, ok := claim.Annotations[storagehelpers.AnnSelectedNode]; ok {
		state += " for " + node
	}
	return state
}

func volumeState(volume *v1.PersistentVolume) string {
	state := string(volume.Status.Phase)
	if reference := volume.Spec.ClaimRef; reference != nil {
		state += " " + reference.Namespace + "/" + reference.Name
	}
	return state
}
