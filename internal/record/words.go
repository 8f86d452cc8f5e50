package record

// This file lists values and keys that are recorded where the form alone is not
// enough: anyone may write any word, and a label under any domain.

// knownLabels are the labels whose values are recorded, if they have the form
// of a name: those that Kubernetes sets, and those that identify applications.
var knownLabels = setOf(
	"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component", "app.kubernetes.io/part-of",
	"app.kubernetes.io/managed-by", "app.kubernetes.io/version",
	"kubernetes.io/os", "kubernetes.io/arch", "kubernetes.io/hostname", "kubernetes.io/metadata.name",
	"topology.kubernetes.io/zone", "topology.kubernetes.io/region", "node.kubernetes.io/instance-type",
	"batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-completion-index",
	"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index",
	"pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/warn", "pod-security.kubernetes.io/audit",
)

// knownReasons are the reasons that Kubernetes itself writes into a status.
// Those of the operators are known from the hooks' answers.
var knownReasons = setOf(
	// Of containers.
	"CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable",
	"ImageInspectError", "SignatureValidationFailed",
	"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "ContainerCreating", "PodInitializing",
	"PostStartHookError", "PreCreateHookError", "PreStartHookError", "StartError", "ContainerCannotRun", "ContainerStatusUnknown",
	"Completed", "Error", "OOMKilled", "Signaled", "DeadlineExceeded", "Unknown", "Running", "Waiting",
	// Of Pods.
	"Evicted", "NodeLost", "NodeShutdown", "Shutdown", "Terminated", "NodeAffinity", "UnexpectedAdmissionError", "Preempting",
	"OutOfcpu", "OutOfmemory", "OutOfpods", "OutOfCpu", "OutOfMemory", "Unschedulable", "SchedulingGated", "SchedulerError",
	"ContainersNotReady", "ContainersNotInitialized", "PodCompleted", "PodFailed", "ReadinessGatesNotReady", "UnknownContainerStatuses",
	"PreemptionByScheduler", "DeletionByTaintManager", "EvictionByEvictionAPI", "DeletionByPodGC", "TerminationByKubelet", "TerminatedByKubelet",
	// Of the operators, which repeat them from their status.
	"PodDeleted",
	// Of Jobs and workloads.
	"BackoffLimitExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy", "CompletionsReached", "SuccessPolicy",
	"JobSuspended", "JobResumed", "MinimumReplicasAvailable", "MinimumReplicasUnavailable", "NewReplicaSetAvailable",
	"NewReplicaSetCreated", "NewReplicaSetReason", "ReplicaSetUpdated", "FoundNewReplicaSet", "ReplicaSetCreateError",
	"ProgressDeadlineExceeded", "DeploymentPaused", "DeploymentResumed", "FailedCreate", "FailedDelete",
)
