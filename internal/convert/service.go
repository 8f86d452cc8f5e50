package main

import "k8s.io/apimachinery/pkg/runtime"

// services adds the ports of the main container, and the Services that lead to them.
func (c *conversion) services(box, container fields, services []manifest) {
	listed := list(container, "ports")
	drop(container, "ports")
	numbers := fields{}
	for _, port := range listed {
		if name, ok := port["name"].(string); ok {
			numbers[name] = port["containerPort"]
		}
	}
	for i, service := range services {
		one := c.service(service, listed)
		if i > 0 {
			one["name"] = service.name()
			add(box, "services", one)
			continue
		}
		if move(box, one, "serviceType ports"); len(one) > 0 {
			box["service"] = one
		}
	}
	for _, port := range listed {
		if len(services) == 0 {
			move(port, port, "containerPort:port")
			add(box, "ports", port)
			box["serviceType"] = "None"
			continue
		}
		drop(port, "name containerPort protocol") // it can be asked without a Service, and need not be listed
		c.loses("spec.template.spec.containers[].ports[]", port)
	}
	numberProbes(box, numbers)
}

// service returns what a ModelBox has of a Service.
func (c *conversion) service(m manifest, listed []fields) fields {
	from, one := runtime.DeepCopyJSON(m.content), fields{}
	spec, metadata := at(from, "spec"), at(from, "metadata")
	move(one, metadata, "name labels annotations")
	if one["name"] == at(c.object, "metadata")["name"] {
		drop(one, "name")
	}
	move(one, spec, ofService)
	if spec["clusterIP"] == "None" {
		one["serviceType"] = "Headless"
		drop(spec, "clusterIP clusterIPs")
	}
	for _, port := range list(spec, "ports") {
		if own := target(port, listed); own != nil {
			move(port, own, "hostPort")
			if port["targetPort"] == own["name"] && port["port"] != own["containerPort"] {
				port["targetPort"] = own["containerPort"]
			}
		}
		add(one, "ports", port)
	}
	drop(from, "apiVersion kind status")
	drop(metadata, "namespace")
	drop(spec, "selector ports")
	c.loses("service", from)
	return withoutDefaults(one)
}

// target returns the container port that a port of a Service leads to, or nil.
func target(port fields, listed []fields) fields {
	to := port["targetPort"]
	if to == nil {
		to = port["port"]
	}
	for _, own := range listed {
		if own["containerPort"] == to || own["name"] == to {
			return own
		}
	}
	return nil
}

// numberProbes replaces the names of container ports that no port of the ModelBox carries on
// by their numbers.
func numberProbes(box, numbers fields) {
	kept := fields{}
	for _, port := range list(box, "ports") {
		if name, ok := port["name"].(string); ok && port["targetPort"] != nil {
			kept[name] = port["targetPort"]
		} else if ok {
			kept[name] = port["port"]
		}
	}
	for _, path := range []string{"livenessProbe", "readinessProbe", "startupProbe", "lifecycle.preStop", "lifecycle.postStart"} {
		for _, action := range []string{".httpGet", ".tcpSocket"} {
			request := at(box, path+action)
			if name, ok := request["port"].(string); ok && numbers[name] != nil && kept[name] != numbers[name] {
				request["port"] = numbers[name]
			}
		}
	}
}
