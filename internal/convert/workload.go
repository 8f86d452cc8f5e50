package main

import "maps"

// templates are the paths of what workloads make their Pods of.
var templates = map[string]string{
	"Deployment": "spec.template", "StatefulSet": "spec.template", "DaemonSet": "spec.template", "ReplicaSet": "spec.template",
	"Job": "spec.template", "CronJob": "spec.jobTemplate.spec.template", "Pod": "",
}

// workload makes a PodSet of Pods that run for ever, and a MyJob of others.
func workload(m manifest) *conversion {
	path := templates[m.content["kind"].(string)]
	if policy := at(at(m.content, path), "spec")["restartPolicy"]; policy == "Never" || policy == "OnFailure" {
		return myJob(m)
	}
	c := begin(m, "apps.jicki.cn/v1alpha1", "PodSet")
	spec, set := at(c.from, "spec"), at(c.object, "spec")
	set["size"] = int64(1)
	if m.content["kind"] == "Pod" {
		c.pod(set)
		return c
	}
	move(set, spec, "replicas:size template minReadySeconds paused progressDeadlineSeconds volumeClaimTemplates")
	drop(spec, "selector")
	for _, strategy := range []fields{at(spec, "strategy"), at(spec, "updateStrategy")} {
		move(set, at(strategy, "rollingUpdate"), "maxSurge maxUnavailable partition")
		switch strategy["type"] {
		case "Recreate":
			set["maxUnavailable"] = "100%"
			drop(strategy, "type")
		case "RollingUpdate":
			drop(strategy, "type")
		}
	}
	c.loses("", c.from)
	return c
}

// myJob makes a MyJob of a Job, of a CronJob's Job or of a Pod.
func myJob(m manifest) *conversion {
	c := begin(m, "myjob.github.com/v1beta1", "MyJob")
	spec, job := at(c.from, "spec"), at(c.object, "spec")
	switch m.content["kind"] {
	case "Pod":
		c.pod(job)
		return c
	case "CronJob":
		spec = at(spec, "jobTemplate.spec")
	}
	move(job, spec, "template activeDeadlineSeconds ttlSecondsAfterFinished backoffLimit suspend")
	drop(spec, "selector")
	for name, value := range (fields{"parallelism": int64(1), "completions": int64(1), "completionMode": "NonIndexed"}) {
		if spec[name] == value { // which is what a MyJob does
			delete(spec, name)
		}
	}
	c.loses("", c.from)
	return c
}

// pod makes a template of a Pod, which has its labels and annotations.
func (c *conversion) pod(into fields) {
	template, metadata := fields{}, fields{}
	move(template, c.from, "spec")
	move(metadata, maps.Clone(at(c.object, "metadata")), "labels annotations")
	if len(metadata) > 0 {
		template["metadata"] = metadata
	}
	into["template"] = template
	c.loses("", c.from)
}
