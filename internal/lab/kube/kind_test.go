package kube_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/lab/kube"
)

func TestKindsAreNamedAsKubectlTakesThem(t *testing.T) {
	for word, want := range map[string]string{
		"po": "Pod", "pods": "Pod", "pod": "Pod", "Pod": "Pod", "deploy": "Deployment", "deployments.apps": "Deployment", "Deployment": "Deployment",
		"sts": "StatefulSet", "svc": "Service", "pvc": "PersistentVolumeClaim", "hpa": "HorizontalPodAutoscaler", "ing": "Ingress", "ev": "Event",
		"mb": "ModelBox", "modelboxes": "ModelBox", "modelboxes.model.github.com": "ModelBox", "ModelBox": "ModelBox",
		"modelboxes.example.com": "modelboxes.example.com", "pods.apps": "pods.apps", "off": "off", "": "", "Toy": "Toy",
	} {
		require.Equal(t, want, kube.KindNamed(word, hooks.All()...), word)
	}
}
