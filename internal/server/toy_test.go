package server_test

import (
	"errors"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// greeting is the parent of a toy operator with a ConfigMap for a child. What
// its text says, its hook does.
type greeting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Text string `json:"text"`
	} `json:"spec"`
}

type greetingStatus struct {
	Seen int    `json:"seen"`
	Now  string `json:"now"`
}

// toy has what a blocked hook needs: it tells that it has been reached, and
// waits to be let go.
type toy struct {
	reached chan struct{}
	release chan struct{}
}

func newToy() *toy {
	return &toy{reached: make(chan struct{}, 100), release: make(chan struct{})}
}

func (t *toy) greeting() metacontroller.Controller {
	return metacontroller.Controller{
		Parent:    metacontroller.Resource{APIVersion: "toys.example.com/v1", Kind: "Greeting", Plural: "greetings"},
		Children:  []metacontroller.Child{{Resource: metacontroller.Resource{APIVersion: "v1", Kind: "ConfigMap", Plural: "configmaps"}, Update: metacontroller.InPlace}},
		Sync:      metacontroller.Sync(t.sync),
		Customize: metacontroller.Customize(func(*greeting) ([]metacontroller.Rule, error) { return nil, nil }),
	}
}

// farewell has no customize hook.
func (t *toy) farewell() metacontroller.Controller {
	controller := t.greeting()
	controller.Parent.Kind = "Farewell"
	controller.Customize = metacontroller.Hook{}
	return controller
}

func (t *toy) sync(g *greeting, seen metacontroller.Observed) (metacontroller.Result[greetingStatus], error) {
	var result metacontroller.Result[greetingStatus]
	name := g.Name
	switch g.Spec.Text {
	case "panic":
		panic("the secret of " + g.Name)
	case "fail":
		return result, errors.New("spec.text cannot be said:\n\tsay it otherwise")
	case "fail at length":
		return result, errors.New("x" + strings.Repeat("ä", 2000))
	case "undeclared":
		result.Children = append(result.Children, &corev1.Secret{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		})
		return result, nil
	case "much":
		text := strings.Repeat("x", 20_000)
		for i := range 100 {
			result.Children = append(result.Children, &corev1.ConfigMap{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
				ObjectMeta: metav1.ObjectMeta{Name: name + "-" + strconv.Itoa(i)},
				Data:       map[string]string{"text": text},
			})
		}
		result.Status = greetingStatus{}
		return result, nil
	case "idle":
		result.Status = greetingStatus{Seen: seen.Children.Len(), Now: seen.Now.Format("15:04:05")}
		return result, nil
	case "block":
		t.reached <- struct{}{}
		<-t.release
	}
	result.Status = greetingStatus{Seen: seen.Children.Len(), Now: seen.Now.Format("15:04:05")}
	result.Children = []metacontroller.Object{&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Data:       map[string]string{"text": g.Spec.Text},
	}}
	return result, nil
}
