package dataservice

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/operator"
)

// configMap is a ConfigMap of a component, with where it is mounted.
type configMap struct {
	*corev1.ConfigMap
	config

	volume string
}

// configMaps returns the ConfigMaps of a component. A user's file replaces the
// generated one of its name, or goes to the first ConfigMap that is mounted as
// a folder. A component without any gets one for them.
func (p *product) configMaps(u *unit) []configMap {
	configs := u.wantedConfigs()
	made := make([]configMap, len(configs))
	home := map[string]int{}
	folder := -1
	for i, config := range configs {
		data := map[string]string{}
		if config.files != nil {
			data = config.files(file{p, u})
		}
		for file := range data {
			home[file] = i
		}
		if folder < 0 && config.file == "" {
			folder = i
		}
		made[i] = configMap{
			ConfigMap: &corev1.ConfigMap{
				ObjectMeta: p.meta(u, u.name+config.suffix), Data: data,
			},
			config: config, volume: "config" + config.suffix,
		}
	}
	for _, file := range slices.Sorted(maps.Keys(u.said.Config)) {
		i, isGenerated := home[file]
		if !isGenerated {
			i = folder
		}
		made[i].Data[file] = string(u.said.Config[file])
	}
	return made
}

// file is what the text of a configuration file depends on.
type file struct {
	product *product
	unit    *unit
}

// has reports whether a component is in the spec.
func (f file) has(key string) bool { return f.product.unit(key) != nil }

// address is host:port of a component, in the cluster or as a third party.
func (f file) address(key string) string {
	u := f.product.unit(key)
	if u.runsHere() {
		return u.name + ":" + strconv.Itoa(int(u.port))
	}
	_, address, _ := strings.Cut(u.said.thirdParty.URL, "://")
	address = address[:strings.IndexAny(address+"/", "/?")]
	if !strings.Contains(address, ":") {
		address += ":" + strconv.Itoa(int(u.port))
	}
	return address
}

// url is the address of an HTTP component.
func (f file) url(key string) string { return f.urlWith("", key) }

// urlWith is url with a user, which refers to credentials, where the component asks for
// basic ones.
func (f file) urlWith(user, key string) string {
	u := f.product.unit(key)
	if u.runsHere() {
		return "http://" + f.address(key)
	}
	url := strings.TrimSuffix(u.said.thirdParty.URL, "/")
	if user == "" || f.auth(key) != AuthBasic {
		return url
	}
	scheme, rest, _ := strings.Cut(url, "://")
	return scheme + "://" + user + "@" + rest
}

// auth is how a component authenticates its clients.
func (f file) auth(key string) AuthType {
	u := f.product.unit(key)
	if u.runsHere() || u.said.thirdParty.AuthType == "" {
		return AuthNone
	}
	return u.said.thirdParty.AuthType
}

// runsHere reports whether a component runs in the cluster.
func (f file) runsHere(key string) bool { return f.product.unit(key).runsHere() }

// uses reports whether the component gets the credentials of another.
func (f file) uses(key string) bool { return slices.Contains(f.unit.uses, key) }

// routes are the components to which it forwards requests, as far as they are
// in the spec.
func (f file) routes() []string {
	return slices.DeleteFunc(slices.Clone(f.unit.routes), func(key string) bool { return !f.has(key) })
}

// configHash returns a hash of the configuration that restarts the Pods when it
// changes, or "" if there is none.
func configHash(configs []configMap) (string, error) {
	hashed := map[string]map[string]string{}
	for _, config := range configs {
		if !config.isOnce {
			hashed[config.volume] = config.Data
		}
	}
	if len(hashed) == 0 {
		return "", nil
	}
	hash, err := operator.HashOf(hashed)
	if err != nil {
		return "", fmt.Errorf("the configuration: %w", err)
	}
	return hash[:16], nil
}
