package build

// Source is where the code is.
type Source struct {
	// Git is a Git repository.
	// +required
	Git Git `json:"git"`
}

// Git is a revision of a Git repository.
type Git struct {
	// URL is the address of the repository, over HTTPS or SSH, without
	// credentials.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^((https?|git)://[^-/@?#[:space:][:cntrl:]][^/@?#[:space:][:cntrl:]]*/|ssh://([A-Za-z0-9._][A-Za-z0-9._-]*@)?[^-/@:?#[:space:][:cntrl:]][^/@?#[:space:][:cntrl:]]*/|[A-Za-z0-9._][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:)[^?#[:space:][:cntrl:]]+$')",message="use https://host/path, ssh://user@host/path or user@host:path, without a newline, ? or #, where user and host do not begin with -; put passwords and tokens into a Secret and set secretRef"
	URL string `json:"url"`
	// Revision is a branch, a tag or a commit. Where a branch and a tag have the
	// same name, it is the tag. A branch that moves on is no change of the spec:
	// write the commit, or change runId.
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^-+~^:?*\\\\[\\\\\\\\[:space:][:cntrl:]][^~^:?*\\\\[\\\\\\\\[:space:][:cntrl:]]*$')",message="use the name of a branch or tag, or a commit: it cannot begin with - or +, nor contain a space, a newline, ~ ^ : ? * [ or a backslash"
	Revision string `json:"revision"`
	// SubPath is the folder in the repository in which the build runs.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && self.split('/').all(p, p != '..') && !self.matches('[[:cntrl:]]')",message="use the path of a folder within the repository: it cannot begin with a slash, nor contain .. or a newline"
	SubPath string `json:"subPath,omitempty"`
	// SecretRef names a Secret in the same namespace with what a private
	// repository asks for: username and password (or a token as password) for
	// HTTPS, ssh-privatekey and perhaps known_hosts for SSH. Without known_hosts,
	// the host's first answer is trusted.
	// +optional
	SecretRef *SecretRef `json:"secretRef,omitempty"`
	// Image is the image of the container that clones, for clusters that cannot
	// pull the default one. It has git, ssh and a POSIX shell.
	// +optional
	Image string `json:"image,omitempty"`
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
