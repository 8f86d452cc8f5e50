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
		subdomain schedulerName shareProcessNamespace nodeName preemptionPolicy readinessGates`
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
func deployment(m manifest, services []manifest) *conversion {
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
	c.loses("", c.from)
	return c
}

// selecting returns the Services that select a Deployment's Pods: those of its file, else those
// of its folder. The one with its name is the first.
func selecting(m manifest, services []manifest) []manifest {
	metadata, labels := at(m.content, "metadata"), at(m.content, "spec.template.metadata.labels")
	var inFile, inFolder []manifest
	for _, service := range services {
		other, selector := at(service.content, "metadata"), at(service.content, "spec.selector")
		isOurs := len(selector) > 0 && path.Dir(service.file) == path.Dir(m.file) && namespace(other) == namespace(metadata)
		for key, value := range selector {
			isOurs = isOurs && labels[key] == value
		}
		switch {
		case isOurs && service.file == m.file:
			inFile = append(inFile, service)
		case isOurs:
			inFolder = append(inFolder, service)
		}
	}
	if len(inFile) == 0 {
		inFile = inFolder
	}
	isNamed := func(service manifest) bool { return at(service.content, "metadata")["name"] == metadata["name"] }
	if i := slices.IndexFunc(inFile, isNamed); i > 0 {
		inFile[0], inFile[i] = inFile[i], inFile[0]
	}
	return inFile
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
