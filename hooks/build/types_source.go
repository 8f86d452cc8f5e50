package build

import (
	corev1 "k8s.io/api/core/v1"
)

// Source is where the code is.
type Source struct {
	// Git is a Git repository.
	// +required
	Git Git `json:"git"`
}

// Git is a revision of a Git repository.
type Git struct {
	// URL is the address of the repository, over HTTPS or SSH, without a
	// password. A user name may be in it.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^(https?://([^-/:@?#[:space:][:cntrl:]][^/:@?#[:space:][:cntrl:]]*@)?[^-/@?#[:space:][:cntrl:]][^/@?#[:space:][:cntrl:]]*/|git://[^-/@?#[:space:][:cntrl:]][^/@?#[:space:][:cntrl:]]*/|ssh://([A-Za-z0-9._][A-Za-z0-9._-]*@)?[^-/@:?#[:space:][:cntrl:]][^/@?#[:space:][:cntrl:]]*/|[A-Za-z0-9._][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:)[^?#[:space:][:cntrl:]]+$')",message="use https://host/path, ssh://user@host/path or user@host:path, without a newline, ? or #, where user and host do not begin with -; put passwords and tokens into a Secret and set secretRef"
	URL string `json:"url"`
	// Revision is a branch, a tag or a commit, of which the first digits are
	// enough. Where a branch and a tag have the same name, it is the tag. Without
	// it, it is HEAD, the default branch. A branch that moves on is no change of
	// the spec: write the commit, or change runId.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[^-+~^:?*\\\\[\\\\\\\\[:space:][:cntrl:]][^~^:?*\\\\[\\\\\\\\[:space:][:cntrl:]]*$')",message="use the name of a branch or tag, or a commit: it cannot begin with - or +, nor contain a space, a newline, ~ ^ : ? * [ or a backslash"
	Revision string `json:"revision,omitempty"`
	// Depth is how many commits of its history are fetched, from the revision
	// back; 0 means all. It is the same for a branch, a tag and a commit.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Depth *int32 `json:"depth,omitempty"`
	// Tags says that all tags of the repository are fetched, each with so much of
	// its history as depth says. Without it there is no tag, not even a tag that
	// revision names: for git describe, set tags to true and depth to 0.
	// +optional
	Tags bool `json:"tags,omitempty"`
	// Submodules says that submodules are fetched, and their submodules, too. Without
	// it, their folders are empty.
	// +optional
	Submodules bool `json:"submodules,omitempty"`
	// LFS says that the files in Git LFS are fetched. Without it, they are
	// pointers. The image that clones needs git-lfs.
	// +optional
	LFS bool `json:"lfs,omitempty"`
	// SubPath is the folder in the repository in which the build runs.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && self.split('/').all(p, p != '..') && !self.matches('[[:cntrl:]]')",message="use the path of a folder within the repository: it cannot begin with a slash, nor contain .. or a newline"
	SubPath string `json:"subPath,omitempty"`
	// SecretRef names a Secret in the same namespace with what a private
	// repository asks for: username and password (or a token as password) for
	// HTTPS, ssh-privatekey and perhaps known_hosts for SSH. Without known_hosts,
	// the host's first answer is trusted. ca.crt is the certificate authority of
	// an HTTPS server, in place of the authorities that the image trusts.
	// +optional
	SecretRef *SecretRef `json:"secretRef,omitempty"`
	// Env are environment variables of the container that clones: HTTPS_PROXY, say.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="self.all(v, !(v.name in ['REPOSITORY', 'REVISION', 'SUB_PATH', 'WORKSPACE', 'CREDENTIALS', 'HOME']) && !v.name.startsWith('CLONE_'))",message="REPOSITORY, REVISION, SUB_PATH, WORKSPACE, CREDENTIALS, HOME and names that begin with CLONE_ are what the clone is told by: use another name"
	Env []corev1.EnvVar `json:"env,omitempty"`
	// Image is the image of the container that clones, for clusters that cannot
	// pull the default one. It has git, ssh and a POSIX shell.
	// +optional
	Image string `json:"image,omitempty"`
	// Resources are requests and limits of the container that clones. Without
	// them it requests 100m CPU and 64Mi, and is limited to 1Gi.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// SecretRef names a Secret in the same namespace.
type SecretRef struct {
	// Name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="the name of a Secret must consist of lower-case letters, digits, hyphens and dots, and begin and end with a letter or digit"
	Name string `json:"name"`
}
