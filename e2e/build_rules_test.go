package e2e

// gitSource begins a spec that has what it needs but an image.
const gitSource = `{source: {git: {url: "https://git.example.com/shop", revision: main}}, `

// buildRules maps a name of its own to each rule.
var buildRules = map[string]rule{
	"name with a dot": {
		message: buildNameMessage, badName: "rule.v2",
		bad:  gitSource + `image: a}`,
		good: gitSource + `image: a}`,
	},
	"name of 53 letters": {
		message: buildNameMessage, badName: "a1234567890123456789012345678901234567890123456789012",
		bad:  gitSource + `image: a}`,
		good: gitSource + `image: a}`,
	},
	"neither image nor steps": {
		message: imageOrStepsMessage,
		bad:     gitSource + `runId: a}`,
		good:    gitSource + `image: a}`,
	},
	"image and steps": {
		message: imageOrStepsMessage,
		bad:     gitSource + `image: a, steps: [{name: b, image: c}]}`,
		good:    gitSource + `steps: [{name: b, image: c}]}`,
	},
	"steps and a script": {
		message: "with steps, each step has its own command, args, script, env, envFrom, resources, volumeMounts and securityContext: write them there",
		bad:     gitSource + `script: make, steps: [{name: b, image: c}]}`,
		good:    gitSource + `steps: [{name: b, image: c, script: make}]}`,
	},
	"script and args": {
		message: "script takes the place of command and args: write either",
		bad:     gitSource + `image: a, script: make, args: [b]}`,
		good:    gitSource + `image: a, command: [make], args: [b]}`,
	},
	"script and command of a step": {
		message: "a step's script takes the place of its command and args: write either",
		bad:     gitSource + `steps: [{name: b, image: c, script: make, command: [d]}]}`,
		good:    gitSource + `steps: [{name: b, image: c, script: make}, {name: d, image: c, command: [d]}]}`,
	},
	"mount of nothing": {
		message: "each of volumeMounts names a volume: add the missing one to volumes",
		bad:     gitSource + `image: a, volumeMounts: [{name: cache, mountPath: /cache}]}`,
		good:    gitSource + `image: a, volumeMounts: [{name: cache, mountPath: /cache}], volumes: [{name: cache, emptyDir: {}}]}`,
	},
	"mount of nothing in a step": {
		message: "each of a step's volumeMounts names a volume: add the missing one to volumes",
		bad:     gitSource + `steps: [{name: b, image: c, volumeMounts: [{name: cache, mountPath: /cache}]}]}`,
		good:    gitSource + `steps: [{name: b, image: c, volumeMounts: [{name: cache, mountPath: /cache}]}], volumes: [{name: cache, emptyDir: {}}]}`,
	},
	"mount over the repository": {
		message: "/workspace holds the repository: mount the volume somewhere else",
		bad:     gitSource + `image: a, volumeMounts: [{name: cache, mountPath: /workspace}], volumes: [{name: cache, emptyDir: {}}]}`,
		good:    gitSource + `image: a, volumeMounts: [{name: cache, mountPath: /workspace/cache}], volumes: [{name: cache, emptyDir: {}}]}`,
	},
	"volume with a name of ours": {
		message: "the volumes workspace, clone-tmp and git-credentials are there already: choose another name",
		bad:     gitSource + `image: a, volumes: [{name: workspace, emptyDir: {}}]}`,
		good:    gitSource + `image: a, volumes: [{name: my-workspace, emptyDir: {}}]}`,
	},
	"step with the clone's name": {
		message: "the step clone is the one that fetches the code: choose another name",
		bad:     gitSource + `steps: [{name: clone, image: c}]}`,
		good:    gitSource + `steps: [{name: clone-2, image: c}]}`,
	},
	"step in capitals": {
		message: "the name of a step has lower-case letters, digits and hyphens, and begins and ends with a letter or digit",
		bad:     gitSource + `steps: [{name: Test, image: c}]}`,
		good:    gitSource + `steps: [{name: test, image: c}]}`,
	},
	"step without an image": {
		message: "a step has no image: write the image that it shall run",
		bad:     gitSource + `steps: [{name: test, script: make}]}`,
		good:    gitSource + `steps: [{name: test, image: c, script: make}]}`,
	},
	"two steps of one name": {
		message: "Duplicate value",
		bad:     gitSource + `steps: [{name: test, image: c}, {name: test, image: d}]}`,
		good:    gitSource + `steps: [{name: test, image: c}, {name: test-2, image: d}]}`,
	},
	"script for another interpreter": {
		message: "a script is run by /bin/sh: leave the line with #! out, or write command and args to call another interpreter",
		bad:     gitSource + `image: a, script: "#!/usr/bin/python"}`,
		good:    gitSource + `image: a, script: "# a comment"}`,
	},
	"no such policy": {
		message: `spec.concurrencyPolicy: Unsupported value: "Queue"`,
		bad:     gitSource + `image: a, concurrencyPolicy: Queue}`,
		good:    gitSource + `image: a, concurrencyPolicy: Forbid}`,
	},
	"service account in capitals": {
		message: "write the name of a ServiceAccount: lower-case letters, digits, hyphens and dots, beginning and ending with a letter or digit",
		bad:     gitSource + `image: a, serviceAccountName: Builder}`,
		good:    gitSource + `image: a, serviceAccountName: builder}`,
	},
	"address with a password": {
		message: gitURLMessage,
		bad:     `{image: a, source: {git: {url: "https://me:secret@git.example.com/shop", revision: main}}}`,
		good:    `{image: a, source: {git: {url: "https://git.example.com:8443/shop", revision: main, secretRef: {name: credentials}}}}`,
	},
	"address that is a file": {
		message: gitURLMessage,
		bad:     `{image: a, source: {git: {url: "file:///etc", revision: main}}}`,
		good:    `{image: a, source: {git: {url: "git@git.example.com:team/shop.git", revision: main}}}`,
	},
	"address that runs a program": {
		message: gitURLMessage,
		bad:     `{image: a, source: {git: {url: "ext::sh -c id", revision: main}}}`,
		good:    `{image: a, source: {git: {url: "ssh://git@git.example.com:2222/shop.git", revision: main}}}`,
	},
	"address that is an option": {
		message: gitURLMessage,
		bad:     `{image: a, source: {git: {url: "ssh://-oProxyCommand=id/shop", revision: main}}}`,
		good:    `{image: a, source: {git: {url: "http://git/shop", revision: main}}}`,
	},
	"revision that is an option": {
		message: revisionMessage,
		bad:     `{image: a, source: {git: {url: "https://git.example.com/shop", revision: "--upload-pack=id"}}}`,
		good:    `{image: a, source: {git: {url: "https://git.example.com/shop", revision: "feature/a-b#1@2"}}}`,
	},
	"revision that is two": {
		message: revisionMessage,
		bad:     `{image: a, source: {git: {url: "https://git.example.com/shop", revision: "main:other"}}}`,
		good:    `{image: a, source: {git: {url: "https://git.example.com/shop", revision: "v1.0+meta"}}}`,
	},
	"folder outside the repository": {
		message: subPathMessage,
		bad:     `{image: a, source: {git: {url: "https://git.example.com/shop", revision: main, subPath: a/../../b}}}`,
		good:    `{image: a, source: {git: {url: "https://git.example.com/shop", revision: main, subPath: a/..b/c}}}`,
	},
	"folder from the root": {
		message: subPathMessage,
		bad:     `{image: a, source: {git: {url: "https://git.example.com/shop", revision: main, subPath: /etc}}}`,
		good:    `{image: a, source: {git: {url: "https://git.example.com/shop", revision: main, subPath: etc}}}`,
	},
}

// Messages that several rules share.
const (
	buildNameMessage    = "metadata.name and a hash name the Jobs: write at most 52 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
	imageOrStepsMessage = "write either image, for a build of one step, or steps"
	gitURLMessage       = "write https://host/path, ssh://user@host/path or user@host:path; credentials go into a Secret, which secretRef names"
	revisionMessage     = "write a branch, a tag or a commit: it does not begin with - or + and has none of the characters that Git keeps for itself (space ~ ^ : ? * [ and the backslash)"
	subPathMessage      = "write a folder within the repository, without a slash before it and without .."
)
