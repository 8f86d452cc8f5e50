package defaults

import (
	"encoding/json"
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
)

// byKubernetes returns an object as kube-apiserver gives it back, but for what
// the strategies of its kinds and admission add: it fills in defaults when it reads
// a request and when it reads from etcd, and converts to its internal types and back.
func byKubernetes(object kube.Object) (map[string]any, error) {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	version, err := schema.ParseGroupVersion(object.GetAPIVersion())
	if err != nil {
		return nil, err
	}
	decoder, encoder := legacyscheme.Codecs.UniversalDecoder(), legacyscheme.Codecs.LegacyCodec(version)
	for _, stage := range []string{"written", "stored"} {
		internal, err := runtime.Decode(decoder, text)
		if err != nil {
			return nil, fmt.Errorf("decode the object as it is %s: %w", stage, err)
		}
		if text, err = runtime.Encode(encoder, internal); err != nil {
			return nil, fmt.Errorf("encode the object as it is %s: %w", stage, err)
		}
	}
	return kube.ParseJSON(text)
}
