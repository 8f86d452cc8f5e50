package main

import (
	"maps"
	"path"
	"slices"
)

// Members that a ModelBox has under the names of the Pod, its main container and the Service,
// or others.
const (
	ofPod = `securityContext:podSecurityContext serviceAccount:serviceAccountName serviceAccountName initContainers volumes imagePullSecrets
		nodeSelector tolerations affinity terminationGracePeriodSeconds priorityClassName topologySpreadConstraints runtimeClassName
		enableServiceLinks resourceClaims automountServiceAccountToken hostNetwork hostPID hostIPC dnsPolicy dnsConfig hostAliases hostname
		subdomain schedulerName shareProcessNamespace nodeName preemptionPolicy readinessGates overhead setHostnameAsFQDN`
	ofContainer = `name:containerName env:envs image command args envFrom volumeMounts resources livenessProbe readinessProbe startupProbe
		securityContext lifecycle imagePullPolicy terminationMessagePath terminationMessagePolicy workingDir stdin stdinOnce tty volumeDevices
		resizePolicy`
	ofService = `type:serviceType publishNotReadyAddresses externalTrafficPolicy internalTrafficPolicy loadBalancerClass loadBalancerIP
		loadBalancerSourceRanges sessionAffinity sessionAffinityConfig ipFamilies ipFamilyPolicy allocateLoadBalancerNodePorts externalIPs`
)

// defaults are values that the API server fills in. Dumped manifests have them.
var defaults = fields{
	"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	"hostNetwork": false, "hostPID": false, "hostIPC": false, "shareProcessNamespace": false, "stdin": false, "stdinOnce": false, "tty": false,
	"automountServiceAccountToken": true, "enableServiceLinks": true, "revisionHistoryLimit": int64(10), "paused": false,
	"sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "externalTrafficPolicy": "Cluster", "ipFamilyPolicy": "SingleStack",
}

// withoutDefaults removes them.
func withoutDefaults(object fields) fields {
	maps.DeleteFunc(object, func(name string, value any) bool { return defaults[name] == value })
	return object
}

// deployment makes a ModelBox.
func deployment(m manifest, all found) *conversion {
	services := selecting(m, all.services)
	c := begin(m, "model.github.com/v1", "ModelBox")
	box, spec, pod := at(c.object, "spec"), at(c.from, "spec"), at(c.from, "spec.template.spec")
	move(box, spec, "replicas minReadySeconds progressDeadlineSeconds revisionHistoryLimit paused")
	move(box, at(spec, "strategy"), "type:strategy")
	move(box, at(spec, "strategy.rollingUpdate"), "maxSurge maxUnavailable")
	move(box, at(spec, "template.metadata"), "labels:podLabels annotations:podAnnotations")
	move(box, pod, ofPod)
	drop(spec, "selector")
	drop(at(spec, "template.metadata"), "name namespace")
	drop(pod, "restartPolicy")

	containers := list(pod, "containers")
	main := served(containers, services)
	pod["containers[]"] = containers[main]
	drop(pod, "containers")
	add(box, "sidecars", slices.Delete(slices.Clone(containers), main, main+1)...)
	move(box, containers[main], ofContainer)
	if box["containerName"] == at(c.object, "metadata")["name"] {
		drop(box, "containerName")
	}
	c.services(withoutDefaults(box), containers[main], services)
	if box["ports"] != nil && (box["livenessProbe"] == nil || box["readinessProbe"] == nil) {
		box["defaultProbes"] = false // the Deployment has none
	}
	for _, service := range services {
		if isShared(service, m, all.manifests) {
			c.loses("a Service with the Pods of several Deployments", service.name())
		}
	}
	c.loses("", c.from)
	return c
}

// selecting returns the Services that select a Deployment's Pods: those of its file, else those
// of its folder. The one with its name is the first.
func selecting(m manifest, services []manifest) (chosen []manifest) {
	for _, isNear := range []bool{true, false} {
		for _, service := range services {
			isTwice := slices.ContainsFunc(chosen, func(other manifest) bool { return other.name() == service.name() })
			if !isTwice && selects(service, m) && (service.file == m.file || !isNear) {
				chosen = append(chosen, service)
			}
		}
		if len(chosen) > 0 {
			break
		}
	}
	if i := slices.IndexFunc(chosen, func(service manifest) bool { return service.name() == m.name() }); i > 0 {
		chosen[0], chosen[i] = chosen[i], chosen[0]
	}
	return chosen
}

func selects(service, m manifest) bool {
	labels, selector := at(m.content, "spec.template.metadata.labels"), at(service.content, "spec.selector")
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0 && path.Dir(service.file) == path.Dir(m.file) &&
		namespace(at(service.content, "metadata")) == namespace(at(m.content, "metadata"))
}

// isShared reports whether a Service has Pods of another Deployment of the same file, too.
func isShared(service, m manifest, manifests []manifest) bool {
	return slices.ContainsFunc(manifests, func(other manifest) bool {
		return other.content["kind"] == "Deployment" && other.file == m.file && other.name() != m.name() && selects(service, other)
	})
}

func namespace(metadata fields) any {
	if metadata["namespace"] == nil {
		return "default"
	}
	return metadata["namespace"]
}

// served returns which container is the main one: the first with a port that the first Service
// leads to.
func served(containers []fields, services []manifest) int {
	for _, service := range services[:min(1, len(services))] {
		for _, port := range list(service.content, "spec.ports") {
			if i := slices.IndexFunc(containers, func(c fields) bool { return target(port, list(c, "ports")) != nil }); i >= 0 {
				return i
			}
		}
	}
	return 0
}
