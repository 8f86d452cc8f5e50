package e2e

import "strings"

// podBuggerToolRules maps a name of its own to each rule.
var podBuggerToolRules = map[string]rule{
	"name with a dot": {
		message: "metadata.name also names the container: write at most 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit",
		badName: "rule.v2",
		bad:     `{selector: {matchLabels: {a: b}}, image: c}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c}`,
	},
	"name of 64 characters": {
		message: "metadata.name also names the container: write at most 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit",
		badName: strings.Repeat("a", 64),
		bad:     `{selector: {matchLabels: {a: b}}, image: c}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c}`,
	},
	"target that is the tool": {
		message: "spec.targetContainer: the debug container has the tool's name, which no other container of the Pod may have: rename the tool, or write the container to be debugged",
		bad:     `{selector: {matchLabels: {a: b}}, image: c, targetContainer: rule}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c, targetContainer: ruler}`,
	},
	"empty selector": {
		message: "an empty selector would match every Pod of the namespace: write matchLabels or matchExpressions",
		bad:     `{selector: {}, image: c}`,
		good:    `{selector: {matchExpressions: [{key: a, operator: Exists}]}, image: c}`,
	},
	"selector with empty parts": {
		message: "an empty selector would match every Pod of the namespace: write matchLabels or matchExpressions",
		bad:     `{selector: {matchLabels: {}, matchExpressions: []}, image: c}`,
		good:    `{selector: {matchLabels: {a: ""}, matchExpressions: []}, image: c}`,
	},
	"label of the own Jobs": {
		message: "the label operetta.dev/podbuggertool marks the Pods of the tools' own Jobs, which are never matched: choose another key",
		bad:     `{selector: {matchLabels: {operetta.dev/podbuggertool: a}}, image: c}`,
		good:    `{selector: {matchLabels: {operetta.dev/tool: a}}, image: c}`,
	},
	"operator without values": {
		message: "matchExpressions: write the operator In or NotIn with values, or Exists or DoesNotExist without",
		bad:     `{selector: {matchExpressions: [{key: a, operator: In}]}, image: c}`,
		good:    `{selector: {matchExpressions: [{key: a, operator: In, values: [b]}]}, image: c}`,
	},
	"operator with values": {
		message: "matchExpressions: write the operator In or NotIn with values, or Exists or DoesNotExist without",
		bad:     `{selector: {matchExpressions: [{key: a, operator: DoesNotExist, values: [b]}]}, image: c}`,
		good:    `{selector: {matchExpressions: [{key: a, operator: DoesNotExist}]}, image: c}`,
	},
	"operator that there is not": {
		message: "matchExpressions: write the operator In or NotIn with values, or Exists or DoesNotExist without",
		bad:     `{selector: {matchExpressions: [{key: a, operator: Is, values: [b]}]}, image: c}`,
		good:    `{selector: {matchExpressions: [{key: a, operator: NotIn, values: [b]}]}, image: c}`,
	},
	"no selector": {
		message: "spec.selector: Required value",
		bad:     `{image: c}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c}`,
	},
	"no image": {
		message: "spec.image: Required value",
		bad:     `{selector: {matchLabels: {a: b}}}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c}`,
	},
	"image with a space": {
		message: "an image has no spaces: write name:tag or name@digest",
		bad:     `{selector: {matchLabels: {a: b}}, image: "c "}`,
		good:    `{selector: {matchLabels: {a: b}}, image: "c:1"}`,
	},
	"image of kubectl with a space": {
		message: "the image of kubectl has no spaces: write name:tag or name@digest",
		bad:     `{selector: {matchLabels: {a: b}}, image: c, kubectlImage: "kubectl 1"}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c, kubectlImage: "kubectl:1"}`,
	},
	"variable with an equals sign": {
		message: "the name of a variable has letters, digits, hyphens, underscores and dots, and does not begin with a digit: write another name",
		bad:     `{selector: {matchLabels: {a: b}}, image: c, env: [{name: "A=B"}]}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c, env: [{name: "A_B", value: "="}]}`,
	},
	"variable with a carriage return": {
		message: "kubectl drops carriage returns: write the value without any",
		bad:     `{selector: {matchLabels: {a: b}}, image: c, env: [{name: A, value: "a\r\nb"}]}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c, env: [{name: A, value: "a\nb"}]}`,
	},
	"variable that stands twice": {
		message: "spec.env[1]: Duplicate value",
		bad:     `{selector: {matchLabels: {a: b}}, image: c, env: [{name: A}, {name: A}]}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c, env: [{name: A}, {name: B}]}`,
	},
	"variable from elsewhere": {
		message: `unknown field "spec.env[0].valueFrom"`,
		bad:     `{selector: {matchLabels: {a: b}}, image: c, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c, env: [{name: A, value: b}]}`,
	},
	"profile that there is not": {
		message: `spec.profile: Unsupported value: "legacy"`,
		bad:     `{selector: {matchLabels: {a: b}}, image: c, profile: legacy}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c, profile: sysadmin}`,
	},
	"no Pods at all": {
		message: "spec.maxPods in body should be greater than or equal to 1",
		bad:     `{selector: {matchLabels: {a: b}}, image: c, maxPods: 0}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c, maxPods: 1}`,
	},
	"too many Pods": {
		message: "spec.maxPods in body should be less than or equal to 500",
		bad:     `{selector: {matchLabels: {a: b}}, image: c, maxPods: 501}`,
		good:    `{selector: {matchLabels: {a: b}}, image: c, maxPods: 500}`,
	},
}
