package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// productOf returns a DataService of two components.
func productOf(name, eureka, proxy string) string {
	return `{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: ` + name + `}, spec: {
		eureka: {name: ` + eureka + `, image: eureka, replica: 1}, proxy: {name: ` + proxy + `, image: proxy, replica: 1}}}`
}

// testTwoProductsInOneNamespace: two custom resources need a Service or a ConfigMap of the
// same name. The second does not write the first one's objects, reports ChildBlocked, and
// creates its own when the first is deleted.
func testTwoProductsInOneNamespace(w *world) {
	first := productOf("first", "eureka", "proxy")
	w.apply(first)
	w.ready("dataservice/first")
	w.settle()
	before := w.versions("service/eureka", "service/proxy", "configmap/proxy")

	w.apply(productOf("second", "eureka-2", "proxy"))
	w.apply(strings.Replace(modelBox(`image: "nginx:1", ports: [{port: 80}]`), "name: box", "name: eureka", 1))
	w.blocked("dataservice", "second", "Service/proxy belongs to DataService/first", "ConfigMap/proxy belongs to DataService/first")
	w.blocked("modelbox", "eureka", "Service/eureka belongs to DataService/first")
	w.atRest()
	require.Equal(w, before, w.versions("service/eureka", "service/proxy", "configmap/proxy"), "the objects of the first were written")
	w.ready("dataservice/first")

	w.kubectl("delete", "dataservice/first", "--timeout="+patience.String())
	w.ready("dataservice/second", "modelbox/eureka")
	w.apply(first)
	w.blocked("dataservice", "first", "Service/eureka belongs to ModelBox/eureka")
	w.atRest()
}

// blocked waits until the conditions Ready and Stalled of a custom resource have some
// reasons.
func (w *world) blocked(kind, name string, reasons ...string) {
	w.Helper()
	for _, conditionType := range []string{"Ready", "Stalled"} {
		w.eventually(kind+"/"+name+" is blocked", func() error {
			condition := w.condition(kind, name, conditionType)
			for _, reason := range reasons {
				if !strings.Contains(condition, "ChildBlocked: ") || !strings.Contains(condition, reason) {
					return fmt.Errorf("%s is %s", conditionType, condition)
				}
			}
			return nil
		})
	}
}

// atRest waits until no object has changed for ten seconds. Metacontroller's writes that
// are refused do not count: under server-side apply it retries a Deployment with a conflict
// at growing intervals.
func (w *world) atRest() {
	w.Helper()
	const quiet = 10 * time.Second
	var last []string
	since := time.Now()
	w.eventually("nothing is written for ten seconds", func() error {
		var now []string
		for _, object := range w.list("services,configmaps,deployments,"+kinds, "") {
			now = append(now, fmt.Sprint(at(object, "kind"), "/", at(object, "metadata", "name"), " ", at(object, "metadata", "resourceVersion")))
		}
		if !slices.Equal(now, last) {
			last, since = now, time.Now()
		}
		if is := time.Since(since); is < quiet {
			return fmt.Errorf("it has been quiet for %s", is)
		}
		return nil
	})
}
