package e2e

// podSetRules maps a name of its own to each rule.
var podSetRules = map[string]rule{
	"name with a dot": {
		message: podSetNameMessage, badName: "rule.v2",
		bad:  `{size: 1}`,
		good: `{size: 1}`,
	},
	"name of 58 letters": {
		message: podSetNameMessage, badName: "a123456789012345678901234567890123456789012345678901234567",
		bad:  `{size: 1}`,
		good: `{size: 1}`,
	},
	"no size": {
		message: "spec.size: Required value",
		bad:     `{maxUnavailable: 1}`,
		good:    `{size: 0}`,
	},
	"size below zero": {
		message: "spec.size: Invalid value: -1",
		bad:     `{size: -1}`,
		good:    `{size: 0}`,
	},
	"size that no request can carry": {
		message: "spec.size: Invalid value: 5001",
		bad:     `{size: 5001}`,
		good:    `{size: 5000}`,
	},
	"Pods that end": {
		message: "the Pods of a PodSet are kept running: write restartPolicy Always, or leave it out; a MyJob runs a Pod once",
		bad:     `{size: 1, template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}`,
		good:    `{size: 1, template: {spec: {restartPolicy: Always, containers: [{name: a, image: b}]}}}`,
	},
	"Pods that are ended": {
		message: "the Pods of a PodSet are kept running: leave activeDeadlineSeconds out",
		bad:     `{size: 1, template: {spec: {activeDeadlineSeconds: 5, containers: [{name: a, image: b}]}}}`,
		good:    `{size: 1, template: {spec: {terminationGracePeriodSeconds: 5, containers: [{name: a, image: b}]}}}`,
	},
	"no containers": {
		message: "without containers there is no Pod: write template.spec.containers, or leave template out",
		bad:     `{size: 1, template: {}}`,
		good:    `{size: 1}`,
	},
	"label of the template": {
		message: "the labels controller-uid, podset and podset.apps.jicki.cn/template-hash tell whose the Pods are: choose another key",
		bad:     `{size: 1, template: {metadata: {labels: {podset: x}}, spec: {containers: [{name: a, image: b}]}}}`,
		good:    `{size: 1, template: {metadata: {labels: {set: x}}, spec: {containers: [{name: a, image: b}]}}}`,
	},
	"annotation of the controller": {
		message: "the annotations operetta.dev/hash, metacontroller.k8s.io/last-applied-configuration and podset.apps.jicki.cn/failures are written by the controller: leave them out",
		bad:     `{size: 1, template: {metadata: {annotations: {podset.apps.jicki.cn/failures: "0"}}, spec: {containers: [{name: a, image: b}]}}}`,
		good:    `{size: 1, template: {metadata: {annotations: {controller.kubernetes.io/pod-deletion-cost: "5"}}, spec: {containers: [{name: a, image: b}]}}}`,
	},
	"nobody may be away": {
		message: maxUnavailableMessage,
		bad:     `{size: 1, maxUnavailable: 0}`,
		good:    `{size: 1, maxUnavailable: 1}`,
	},
	"no share": {
		message: maxUnavailableMessage,
		bad:     `{size: 1, maxUnavailable: 0%}`,
		good:    `{size: 1, maxUnavailable: 100%}`,
	},
	"more than a share": {
		message: maxUnavailableMessage,
		bad:     `{size: 1, maxUnavailable: 101%}`,
		good:    `{size: 1, maxUnavailable: 1%}`,
	},
	"share as a word": {
		message: maxUnavailableMessage,
		bad:     `{size: 1, maxUnavailable: half}`,
		good:    `{size: 1, maxUnavailable: 50%}`,
	},
}

// Messages that several rules share.
const (
	podSetNameMessage     = "metadata.name and a number name the Pods: write at most 57 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
	maxUnavailableMessage = "write a number of Pods from 1 to 5000, or a share from 1% to 100%"
)
