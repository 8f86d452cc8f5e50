package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ofStep are the members that a Build's step has under the names of Tekton, or others.
const ofStep = `name image command args script env envFrom volumeMounts securityContext workingDir imagePullPolicy results onError
	resources computeResources:resources`

// task makes a Build of a Tekton Task. Its repository is made up.
func task(m manifest) *conversion {
	c := begin(m, "ci.zt.vapi.cc/v1", "Build")
	spec, build := at(c.from, "spec"), at(c.object, "spec")
	build["source"] = fields{"git": fields{"url": "https://git.example.com/a/b", "revision": "main"}}
	p := placeholders{params: fields{}, workspaces: fields{}}
	for _, param := range slices.Concat(list(spec, "params"), list(spec, "inputs.params")) {
		p.add(param)
	}
	move(build, spec, "volumes results")
	for _, result := range list(build, "results") {
		if result["type"] == "string" {
			drop(result, "type")
		}
	}
	mounts := p.mount(build, list(spec, "workspaces"))
	if volumes := build["volumes"]; volumes != nil {
		build["volumes"] = p.replace(volumes)
	}
	for i, step := range list(spec, "steps") {
		inherit(step, at(spec, "stepTemplate"))
		replaced, _ := p.replace(step).(fields)
		add(build, "steps", c.step(i, replaced, mounts))
	}
	for _, name := range p.unknown {
		c.loses(name, name)
	}
	drop(spec, "description displayName params workspaces inputs outputs resources steps stepTemplate")
	c.loses("", c.from)
	return c
}

// step makes a step of a Build.
func (c *conversion) step(i int, from fields, mounts []fields) fields {
	step := fields{"name": fmt.Sprintf("unnamed-%d", i)} // as Tekton calls it
	move(step, from, ofStep)
	if step["name"] == "clone" { // a Build's own
		step["name"] = "step-clone" // as Tekton calls the container
	}
	if step["onError"] == "stopAndFail" {
		drop(step, "onError")
	}
	if timeout, err := time.ParseDuration(fmt.Sprint(from["timeout"])); err == nil {
		step["timeoutSeconds"] = int64(timeout.Seconds())
		drop(from, "timeout")
	}
	add(step, "volumeMounts", mounts...)
	drop(from, "workspaces displayName description")
	c.loses(fmt.Sprintf("spec.steps[%d]", i), from)
	return step
}

// inherit gives a step what only the Task's stepTemplate says.
func inherit(step, template fields) {
	for name, value := range template {
		if step[name] == nil {
			step[name] = value
			continue
		}
		for _, item := range list(template, name) { // variables and mounts
			if !slices.ContainsFunc(list(step, name), func(own fields) bool { return own["name"] == item["name"] }) {
				add(step, name, item)
			}
		}
	}
}

// mount has the first workspace be the repository, and each other an emptyDir until somebody
// writes something better. It returns how the steps mount those.
func (p *placeholders) mount(build fields, workspaces []fields) (mounts []fields) {
	for i, workspace := range workspaces {
		name := fmt.Sprint(workspace["name"])
		volume, folder := "ws-"+strings.ToLower(name), "/workspaces/"+name
		if path, ok := workspace["mountPath"].(string); ok {
			folder = path
		}
		if i == 0 {
			p.workspaces[name] = "/workspace"
			continue
		}
		p.workspaces[name] = folder
		add(build, "volumes", fields{"name": volume, "emptyDir": fields{}})
		mounts = append(mounts, fields{"name": volume, "mountPath": folder})
	}
	return mounts
}
