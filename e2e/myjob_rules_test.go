package e2e

// myJobRules maps a name of its own to each rule.
var myJobRules = map[string]rule{
	"name with a dot": {
		message: "metadata.name also names the Pod and its host: write at most 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit",
		badName: "rule.v2",
		bad:     `{template: {spec: {containers: [{name: a, image: b}]}}}`,
		good:    `{template: {spec: {containers: [{name: a, image: b}]}}}`,
	},
	"template that is changed": {
		message: "a MyJob runs once, so its template cannot be changed: create a new MyJob, under another name or after deleting this one",
		before:  `{template: {metadata: {name: pi}, spec: {containers: [{name: a, image: b}]}}}`,
		bad:     `{template: {metadata: {name: pi}, spec: {containers: [{name: a, image: c}]}}}`,
		good:    `{ttlSecondsAfterFinished: 5, template: {metadata: {name: pi}, spec: {containers: [{name: a, image: b}]}}}`,
	},
	"restart for ever": {
		message: "a Pod with restartPolicy Always never completes: write Never or OnFailure, or leave restartPolicy out",
		bad:     `{template: {spec: {restartPolicy: Always, containers: [{name: a, image: b}]}}}`,
		good:    `{template: {spec: {restartPolicy: OnFailure, containers: [{name: a, image: b}]}}}`,
	},
	"no containers": {
		message: "a Pod needs containers: write template.spec.containers",
		bad:     `{template: {spec: {containers: []}}}`,
		good:    `{template: {spec: {containers: [{name: a, image: b}]}}}`,
	},
	"no spec": {
		message: "a Pod needs containers: write template.spec.containers",
		bad:     `{template: {}}`,
		good:    `{template: {spec: {containers: [{name: a, image: b}]}}}`,
	},
	"label of the owner": {
		message: "the label controller-uid tells whose the Pod is: choose another key",
		bad:     `{template: {metadata: {labels: {controller-uid: x}}, spec: {containers: [{name: a, image: b}]}}}`,
		good:    `{template: {metadata: {labels: {uid: x}}, spec: {containers: [{name: a, image: b}]}}}`,
	},
	"annotation of the controller": {
		message: "the annotations operetta.dev/hash and metacontroller.k8s.io/last-applied-configuration are written by the controller: leave them out",
		bad:     `{template: {metadata: {annotations: {operetta.dev/hash: x}}, spec: {containers: [{name: a, image: b}]}}}`,
		good:    `{template: {metadata: {annotations: {hash: x}}, spec: {containers: [{name: a, image: b}]}}}`,
	},
	"no template": {
		message: "spec.template: Required value",
		bad:     `{}`,
		good:    `{template: {spec: {containers: [{name: a, image: b}]}}}`,
	},
	"no time to live": {
		message: "spec.ttlSecondsAfterFinished in body should be greater than or equal to 0",
		bad:     `{ttlSecondsAfterFinished: -1, template: {spec: {containers: [{name: a, image: b}]}}}`,
		good:    `{ttlSecondsAfterFinished: 0, template: {spec: {containers: [{name: a, image: b}]}}}`,
	},
	"no time to run": {
		message: "spec.activeDeadlineSeconds in body should be greater than or equal to 1",
		bad:     `{activeDeadlineSeconds: 0, template: {spec: {containers: [{name: a, image: b}]}}}`,
		good:    `{activeDeadlineSeconds: 1, template: {spec: {containers: [{name: a, image: b}]}}}`,
	},
}
