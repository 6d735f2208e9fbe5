"""Names of the feature gates that do not touch scheduling; their values have no effect here.

They are known so that a kube-scheduler's whole ``--feature-gates`` can be pasted, and a misspelt one is still refused.
Source: pkg/features/*.go of every minor version from 1.18 to 1.37, and the gates that the generic API server and the
logging library add.
"""

from __future__ import annotations

from collections.abc import Mapping

from topospread.config.versions import KubeVersion

# first minor version - last minor version: names. "18" stands for "18 or earlier", "37" for "not gone yet".
_NAMES = """
18-18: DynamicAuditing PodShareProcessNamespace VolumeSubpathEnvExpansion
18-19: DefaultIngressClass ServiceLoadBalancerFinalizer SupportIPVSProxyMode TaintBasedEvictions
18-20: AttachVolumeLimit BlockVolume CSIBlockVolume CSIDriverRegistry CSIMigrationAWSComplete
    CSIMigrationAzureDiskComplete CSIMigrationAzureFileComplete CSIMigrationGCEComplete
    CSIMigrationOpenStackComplete CSINodeInfo HyperVContainer RotateKubeletClientCertificate TokenRequest
    TokenRequestProjection VolumePVCDataSource WindowsGMSA WindowsRunAsUserName
18-21: CRIContainerLogRotation ExternalPolicyForExternalIP LegacyNodeRoleBehavior NodeDisruptionExclusion RunAsGroup
    SCTPSupport ServiceAppProtocol ServiceNodeExclusion ServiceTopology VolumeSnapshotDataSource
18-22: AllowInsecureBackendProxy BoundServiceAccountTokenVolume NodeLease ServiceAccountIssuerDiscovery StartupProbe
    SupportNodePidsLimit SupportPodPidsLimit Sysctls
18-23: HugePageStorageMediumSize ImmutableEphemeralVolumes StreamingProxyRedirects
    ValidateProxyRedirects
18-24: ConfigurableFSGroupPolicy EndpointSlice EndpointSliceProxying IPv6DualStack PodDisruptionBudget
    StorageObjectInUseProtection TTLAfterFinished VolumeSubpath
18-25: CSIMigrationOpenStack DynamicKubeletConfig
18-26: CSIInlineVolume CSIMigration CSIMigrationAWS CSIMigrationAzureDisk EphemeralContainers ExpandCSIVolumes
    ExpandInUsePersistentVolumes ExpandPersistentVolumes
18-27: AdvancedAuditing CSIMigrationGCE DevicePlugins DryRun
18-28: TopologyManager
18-29: CSIMigrationAzureFile ExperimentalHostUserNamespaceDefaulting KubeletPodResources
18-30: APIPriorityAndFairness
18-31: ServerSideApply
18-32: APIListChunking AppArmor CPUManager
18-36: AnyVolumeDataSource
18-37: APIResponseCompression CustomCPUCFSQuotaPeriod HPAScaleToZero LocalStorageCapacityIsolationFSQuotaMonitoring
    ProcMountType QOSReserved RotateKubeletServerCertificate
19-21: CSIMigrationvSphereComplete
19-23: SetHostnameAsFQDN WarningHeaders
19-24: CSIVolumeFSGroupPolicy WindowsEndpointSliceProxying
19-27: DisableAcceleratorUsageMetrics
19-28: CSIMigrationvSphere
19-37: WinDSR WinOverlay
20-21: RootCAConfigMap
20-22: CronJobControllerV2
20-24: CSIServiceAccountToken EndpointSliceNodeName
20-25: ServiceLBNodePortControl
20-27: EndpointSliceTerminatingCondition KubeletCredentialProviders MixedProtocolLBService
20-28: DownwardAPIHugePages
20-31: HPAContainerMetrics
20-34: SizeMemoryBackedVolumes
20-37: ExecProbeTimeout GracefulNodeShutdown
21-23: NamespaceDefaultLabelName
21-24: IngressClassNamespacedParams
21-25: ServiceLoadBalancerClass
21-26: DaemonSetUpdateSurge NetworkPolicyEndPort
21-27: ServiceInternalTrafficPolicy
21-28: ProbeTerminationGracePeriod
21-29: KubeletPodResourcesGetAllocatable
21-30: InTreePluginAWSUnregister InTreePluginAzureDiskUnregister InTreePluginAzureFileUnregister
    InTreePluginGCEUnregister InTreePluginOpenStackUnregister InTreePluginvSphereUnregister
21-35: MemoryManager TopologyAwareHints
21-36: LogarithmicScaleDown
21-37: CSIVolumeHealth PodDeletionCost
22-25: CSRDuration
22-26: ControllerManagerLeaderMigration StatefulSetMinReadySeconds
22-27: DelegateFSGroupToCSIDriver PodSecurity WindowsHostProcessContainers
22-28: JobTrackingWithFinalizers SeccompDefault
22-29: ExpandedDNSConfig ProxyTerminatingEndpoints
22-32: DisableCloudProviders
22-37: CPUManagerPolicyOptions KubeletInUserNamespace MemoryQoS NodeSwap
23-23: csiMigrationRBD
23-26: IdentifyPodOS
23-28: GRPCContainerProbe JobMutableNodeSchedulingDirectives OpenAPIV3
23-30: CustomResourceValidationExpressions InTreePluginRBDUnregister JobReadyPods
23-31: ServerSideFieldValidation
23-32: DisableKubeletCloudCredentialProviders
23-34: StatefulSetAutoDeletePVC
23-35: CSIMigrationPortworx HonorPVReclaimPolicy InTreePluginPortworxUnregister
23-37: CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions GracefulNodeShutdownBasedOnPodPriority OpenAPIEnums
    PodAndContainerStatsFromCRI RecoverVolumeExpansionFailure
24-27: NetworkPolicyStatus ServiceIPStaticSubrange
24-28: CronJobTimeZone LegacyServiceAccountTokenNoAutoGeneration
24-30: CSIMigrationRBD
24-31: NodeOutOfServiceVolumeDetach
24-37: MaxUnavailableStatefulSet
25-27: PodHasNetworkCondition UserNamespacesStatelessPodsSupport
25-28: MultiCIDRRangeAllocator RetroactiveDefaultStorageClass
25-29: IPTablesOwnershipCleanup
25-30: CSINodeExpandSecret
25-32: JobPodFailurePolicy
25-37: ContainerCheckpoint KubeletTracing SELinuxMountReadWriteOncePod UnauthenticatedHTTP2DOSMitigation
26-29: APISelfSubjectReview LegacyServiceAccountTokenTracking MinimizeIPTablesRestore
26-30: ConsistentHTTPGetHandlers
26-31: ValidatingAdmissionPolicy
26-32: AggregatedDiscoveryEndpoint PDBUnhealthyPodEvictionPolicy
26-37: CrossNamespaceVolumeDataSource EventedPLEG TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions
    TopologyManagerPolicyOptions WindowsHostNetwork
27-27: RemoveSelfLink
27-29: SecurityContextDeny
27-30: ServiceNodePortStaticSubrange
27-31: CloudDualStackNodeIPs KMSv2 NewVolumeManagerReconstruction StableLoadBalancerNodeSet
27-32: AdmissionWebhookMatchConditions EfficientWatchResumption RemainingItemCount WatchBookmark
27-33: ElasticIndexedJob
27-35: WatchFromStorageWithoutResourceVersion
27-36: APIServerTracing
27-37: APIServerIdentity CloudControllerManagerWebhook ClusterTrustBundle ContextualLogging
    KubeletPodResourcesDynamicResources KubeletPodResourcesGet LoggingAlphaOptions LoggingBetaOptions
    LoggingStableOptions MultiCIDRServiceAllocator NodeLogQuery StorageVersionAPI StorageVersionHash WatchList
28-30: DefaultHostNetworkHostPortsInPodTemplates SkipReadOnlyValidationGCE
28-31: LegacyServiceAccountTokenCleanUp PodHostIPs
28-32: KubeProxyDrainingTerminatingNodes PersistentVolumeLastPhaseTransitionTime
28-33: DevicePluginCDIDevices
28-34: CronJobsScheduledAnnotation PodIndexLabel
28-36: JobBackoffLimitPerIndex SchedulerQueueingHints
28-37: CRDValidationRatcheting KubeletCgroupDriverFromCRI PodReadyToStartContainersCondition SeparateCacheWatchRPC
    UnknownVersionInteroperabilityProxy UserNamespacesSupport
29-31: KMSv2KDF ZeroLimitedNominalConcurrencyShares
29-34: AllowServiceLBStatusOnNonLB LoadBalancerIPMode UserNamespacesPodSecurityStandards
29-35: StructuredAuthorizationConfiguration
29-36: PodLifecycleSleepAction
29-37: ClusterTrustBundleProjection DisableNodeKubeProxyVersion ImageMaximumGCAge KMSv1 KubeletSeparateDiskGC
    NFTablesProxyMode RuntimeClassInImageCriApi SeparateTaintEvictionController ServiceAccountTokenJTI
    ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
    TranslateStreamCloseWebsocketRequests
30-32: AppArmorFields
30-34: StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks
30-35: ServiceTrafficDistribution
30-36: ConsistentListFromCache JobSuccessPolicy OrderedNamespaceDeletion RetryGenerateName
    StructuredAuthenticationConfiguration
30-37: APIServingWithRoutine CustomResourceFieldSelectors MutatingAdmissionPolicy PortForwardWebsockets
    RecursiveReadOnlyMounts RelaxedEnvironmentVariableValidation SELinuxMount StorageNamespaceIndex
    StorageVersionMigrator
31-31: DRAControlPlaneController
31-36: AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors
    ResilientWatchCacheInitialization
31-37: AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ConcurrentWatchObjectDecode
    CoordinatedLeaderElection DisableAllocatorDualWrite ReloadKubeletServerCertificateFile
    ResourceHealthStatus SupplementalGroupsPolicy WatchCacheInitializationPostStartHook
32-35: InPlacePodVerticalScalingAllocatedStatus
32-36: BtreeWatchCache PodLifecycleSleepActionAllowZero RelaxedDNSSearchValidation
32-37: AllowOverwriteTerminationGracePeriodSeconds AllowUnsafeMalformedObjectDeletion CBORServingAndStorage
    ComponentFlagz ComponentStatusz DRAAdminAccess ExternalServiceAccountTokenSigner
    InPlacePodVerticalScalingExclusiveCPUs KubeletCrashLoopBackOffMax KubeletFineGrainedAuthz
    KubeletRegistrationGetOnExistsOnly PodLogsQuerySplitStreams RemoteRequestHeaderUID SELinuxChangePolicy
    SchedulerAsyncPreemption ServiceAccountNodeAudienceRestriction SystemdWatchdog WindowsCPUAndMemoryAffinity
    WindowsGracefulNodeShutdown
33-33: LegacySidecarContainers
33-36: StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
33-37: AggregatedDiscoveryRemoveBetaType AllowParsingUserUIDFromCertAuth ContainerStopSignals DRADeviceTaints
    DRAPartitionableDevices DRAPrioritizedList DeclarativeValidation DeclarativeValidationTakeover
    DeploymentReplicaSetTerminatingReplicas DisableCPUQuotaWithExclusiveCPUs GitRepoVolumeDriver
    HPAConfigurableTolerance KubeletEnsureSecretPulledImages KubeletPSI
    KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot MutableCSINodeAllocatableCount
    PodObservedGenerationTracking PreferSameTrafficDistribution
    ReduceDefaultCrashLoopBackOffDecay StrictIPCIDRValidation
34-34: ProbeHostPodSecurityStandards
34-36: PreventStaticPodAPIReferences
34-37: ClearingNominatedNodeNameAfterBinding DRAConsumableCapacity
    DetectCacheInconsistency EnvFiles HostnameOverride InPlacePodVerticalScalingExclusiveMemory
    KubeletPodResourcesListUseActivePods NominatedNodeNameForExpectation PodCertificateRequest
    RelaxedServiceNameValidation SchedulerAsyncAPICalls SizeBasedListCostEstimate
    StatefulSetSemanticRevisionComparison StructuredAuthenticationConfigurationEgressSelector
    TokenRequestServiceAccountUIDValidation
35-37: AuthorizePodWebsocketUpgradeCreatePermission CRDObservedGenerationTracking CSIServiceAccountTokenSecrets
    ChangeContainerStatusOnKubeletRestart CloudControllerManagerWatchBasedRoutesReconciliation
    ConstrainedImpersonation DRADeviceTaintRules MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs
    MutableSchedulingDirectivesForSuspendedJobs OpportunisticBatching RestartAllContainersOnContainerExits
    StructuredAuthenticationConfigurationJWKSMetrics UserNamespacesHostNetworkSupport
36-36: WorkloadAwarePreemption
36-37: AllowServiceExternalIPs CRIListStreaming ControllerManagerReleaseLeaderElectionLockOnExit
    DRAListTypeAttributes DRANodeAllocatableResources DRAResourceClaimGranularStatusAuthorization
    DRAResourcePoolStatus DRAWorkloadResourceClaims DeclarativeValidationBeta ExtendWebSocketsToKubelet
    ImageVolumeWithDigest InPlacePodVerticalScalingInitContainers ManifestBasedAdmissionControlConfig
    PLEGOnDemandRelist PersistentVolumeClaimUnusedSinceTime PodLevelResourceManagers PodsAPI
    ReloadKubeletClientCAFile ResourceHealthStatusMessage ServiceCIDRStatusFieldWiping ShardedListAndWatch
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
    StaleControllerConsistencyStatefulSet WorkloadWithJob
37-37: APIServerWebhookAuthenticationToken AtomicWriteVolumeUserFields CompositePodGroup
    ConsistentListFromCacheSkipTimeoutFallback DRADerivedAttributes DRADeviceCompatibilityGroups
    DRAFractionalCapacityRange DRAOptionalNodeOperations DRAPartitionableDevicesType DefaultPodSysctls
    EmptyDirVolumeMode EtcdRangeStream EvictionRequestAPI ExcludeAdmissionWebhookVirtualResources
    GRPCContainerProbeTLS H2CContainerProbe HPAGeneration HPAOptimizedSelectorStore HugepageAwareEviction
    InPlacePodVerticalScalingMemoryBackedVolumes InterPodAffinityHostnameFastPath KubeProxyIPVS
    KubeProxyNFTablesLocalhostNodePorts KubeletAllocatedPodsEndpoint NFTablesNetlink
    NodeControllerLeaseCircuitBreaker NodeLifecycleConditions PodGroupPreemptionPolicy
    PodLevelResourcesFixKubeletQOSClass SchedulerPreQueueingHints
    StaleControllerConsistencyHPA StatefulSetRecreateStrategy WatchListCompression
    WebhookRoundTripLoadBalancing
"""


# Gate: the minor version from which it is on by default (38: it is not), and gates of the other table that it needs,
# since 1.35. Those that need only what is locked are left out.
DEPENDENTS: Mapping[str, tuple[int, str]] = {
    "CompositePodGroup": (38, "GenericWorkload TopologyAwareWorkloadScheduling"),
    "DRAOptionalNodeOperations": (38, "DynamicResourceAllocation NodeDeclaredFeatures"),
    "DRAResourceClaimGranularStatusAuthorization": (36, "DynamicResourceAllocation DRAResourceClaimDeviceStatus"),
    "DRAWorkloadResourceClaims": (38, "DynamicResourceAllocation GenericWorkload"),
    "ExtendWebSocketsToKubelet": (36, "NodeDeclaredFeatures"),
    "H2CContainerProbe": (38, "NodeDeclaredFeatures"),
    "ImageVolumeWithDigest": (38, "ImageVolume"),
    "InPlacePodVerticalScalingInitContainers": (36, "InPlacePodVerticalScaling NodeDeclaredFeatures"),
    "InPlacePodVerticalScalingMemoryBackedVolumes": (38, "InPlacePodVerticalScaling NodeDeclaredFeatures"),
    "PodGroupPreemptionPolicy": (38, "GenericWorkload"),
    "PodLevelResourceManagers": (38, "PodLevelResources"),
    "PodLevelResourcesFixKubeletQOSClass": (37, "PodLevelResources"),
    "RestartAllContainersOnContainerExits": (36, "ContainerRestartRules NodeDeclaredFeatures"),
    "UserNamespacesHostNetworkSupport": (38, "NodeDeclaredFeatures"),
    "WorkloadAwarePreemption": (38, "GangScheduling"),
    "WorkloadWithJob": (38, "GenericWorkload"),
}


def _spans() -> dict[str, tuple[int, int]]:
    spans: dict[str, tuple[int, int]] = {}
    span = (0, 0)
    for word in _NAMES.split():
        if word.endswith(":"):
            first, _, last = word[:-1].partition("-")
            span = (int(first), int(last))
        else:
            spans[word] = span
    return spans


def known_elsewhere(name: str, version: KubeVersion) -> bool:
    """Whether a version's programs accept a gate that scheduling does not depend on."""
    if name in ("AllAlpha", "AllBeta"):
        return True
    span = _spans().get(name)
    return span is not None and span[0] <= version.minor <= span[1]
