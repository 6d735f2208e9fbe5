"""The fixed list of public names and words, which an anonymised cluster keeps. All other names are replaced."""

from __future__ import annotations

import re
from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


NAMESPACES: Final = words("default kube-system kube-public kube-node-lease")
PRIORITY_CLASSES: Final = words("system-cluster-critical system-node-critical")
SCHEDULERS: Final = words("default-scheduler")
VALUES: Final = words("true false True False yes no none linux windows amd64 arm64") | {""}
"""Values of labels and taints."""

KEYS_WITH_PUBLIC_VALUES: Final = words(
    """kubernetes.io/os kubernetes.io/arch beta.kubernetes.io/os beta.kubernetes.io/arch
    node.kubernetes.io/instance-type beta.kubernetes.io/instance-type"""
)
"""Labels whose values are product names. kube-scheduler's plugins read some of them."""

DOMAINS: Final = tuple(
    """kubernetes.io x-k8s.io k8s.io karpenter.sh amazonaws.com aws.com k8s.aws cloud.google.com gke.io azure.com
    openshift.io openstack.org vmware.com portworx.com ceph.com longhorn.io helm.sh istio.io argoproj.io nvidia.com
    amd.com intel.com topospread.dev kruise.io knative.dev cnpg.io coreos.com min.io rabbitmq.com zalan.do keda.sh
    apps batch policy autoscaling extensions""".split()  # noqa: SIM905 - a list of 36 strings is harder to read
)
"""Public domains in API groups, label keys, resources and drivers."""

KINDS: Final = words(
    """Pod Node Namespace Service ReplicationController ReplicaSet Deployment StatefulSet DaemonSet Job CronJob
    HorizontalPodAutoscaler PodDisruptionBudget PriorityClass PersistentVolume PersistentVolumeClaim StorageClass
    CSINode CSIDriver CSIStorageCapacity VolumeAttachment DeviceClass LimitRange ResourceQuota RuntimeClass
    ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
    ResourceSlice ResourceClaim ResourceClaimTemplate DeviceTaintRule Workload PodGroup
    Rollout CloneSet JobSet LeaderWorkerSet Cluster Prometheus Alertmanager Tenant RabbitmqCluster postgresql
    Managed Dedicated Shared"""
)
"""Kinds that topospread reads (a test compares its tables), and kinds of Azure disks."""

TYPES_AND_REASONS: Final = words(
    """Ready PodScheduled Initialized ContainersReady PodReadyToStartContainers DisruptionTarget PodResizePending
    PodResizeInProgress MemoryPressure DiskPressure PIDPressure NetworkUnavailable
    Complete Failed Suspended FailureTarget SuccessCriteriaMet Available Progressing ReplicaFailure
    Terminating NotTerminating BestEffort NotBestEffort PriorityClass CrossNamespacePodAffinity VolumeAttributesClass
    Container Pod PersistentVolumeClaim Recreate RollingUpdate OnDelete ClusterIP NodePort LoadBalancer ExternalName
    Utilization AverageValue Value Resource ContainerResource Pods Object External
    Unschedulable SchedulingGated SchedulerError NodeLost Evicted Deferred Infeasible Error Preempting Terminated
    PreemptionByScheduler DeletionByTaintManager EvictionByEvictionAPI TerminationByKubelet
    OutOfcpu OutOfmemory OutOfpods NodeAffinity NodePorts UnexpectedAdmissionError Shutdown"""
) | {""}

CSI_LIMIT: Final = "attachable-volumes-csi-"
NATIVE_RESOURCE: Final = re.compile(
    r"cpu|memory|pods|storage|ephemeral-storage|hugepages-[0-9]+[KMGT]i"
    r"|attachable-volumes-(?:aws-ebs|azure-disk|cinder|gce-pd|vsphere-volume)"
)

WORDS_OF_KEYS: Final = words(
    """alpha beta node role topology failure domain volume volumes cluster system control plane master worker infra etcd
    zone region rack host hostname zonegroup os arch instance type family size cpu memory gpu pods count product
    name id uid app application apps component instance version part of managed by created tier track release chart
    heritage k8s env environment stage service statefulset deployment daemonset job jobs jobset cron batch pod template
    admissionregistration
    hash controller revision generation index completion ordinal group groups leader leaderworkerset sigs metadata
    nodepool nodegroup agentpool pool provisioner capacity capacityType spot preemptible lifecycle mode
    not ready unreachable unschedulable pressure disk pid network unavailable out uninitialized shutdown
    cloudprovider exclude from external load balancers restriction
    csi ebs efs fsx file blob pd filestore rbd cephfs nfs rook ceph cinder vsphere storage local path host kubelet
    no aws gce azure eks gke ec2 autoscaler autoscaling scaling karpenter disrupted registered
    mig nvme ssd local device plugin present compute major minor deploy driver
    postgresql monitoring serving minio acid rabbitmq workload
    kube proxy dns admin scheduler conditions scheduling lock resource authorization rbac networking"""
)
"""Words of public label keys, resource names and driver names."""
