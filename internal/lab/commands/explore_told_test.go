package commands

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

const greetingCRD = `{"metadata":{"name":"greetings.example.com"},"spec":{"scope":"Namespaced","versions":[{"name":"v1","subresources":{"status":{}},
	"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"text":{"type":"string","enum":["hi","bye","hello"]},"count":{"type":"integer"}}},
		"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`

// reported is a greeting that says how it is.
type reported struct {
	greeting

	Status operator.Status `json:"status"`
}

// rude has two bugs: an edit to bye leaves a ConfigMap behind, one to hello is not answered.
func rude(notAnswered func()) metacontroller.Controller {
	controller := greetings()
	controller.CRD = metacontroller.NewCRD([]byte(greetingCRD))
	controller.Sync = metacontroller.Sync(func(g *reported, observed metacontroller.Observed) (metacontroller.Result[operator.Status], error) {
		named := func(name string) metacontroller.Object {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}
		wanted := []metacontroller.Object{named(g.Name)}
		switch {
		case g.Generation > 1 && g.Spec.Text == "bye":
			wanted = append(wanted, named("bye"))
		case g.Generation > 1 && g.Spec.Text == "hello":
			notAnswered()
			return metacontroller.Result[operator.Status]{}, errors.New("it is too late for that")
		}
		differs, err := observed.Compare(wanted)
		if err != nil {
			return metacontroller.Result[operator.Status]{}, err
		}
		report := operator.NewReport(g, g.Status, observed, differs)
		report.SetSummary(report.With(operator.Summary{State: operator.Done, Reason: "Said", Message: "it is said"}))
		return operator.Answer(report, g.Status, operator.Status{}, wanted), nil
	})
	return controller
}

// TestExploreTellsAllThatItFinds: each with a schedule of its own, after all that was played.
func TestExploreTellsAllThatItFinds(t *testing.T) {
	code, out, says := runProgram(t, Operators{Controllers: []metacontroller.Controller{rude(func() {})}}, bare, "explore", "-", "--schedules", "40")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, says, "explore has found broken invariants: see above")
	require.Regexp(t, `^= .*, dynamic-apply: schedules: 40, found: 2\n= .*, server-side-apply: schedules: 40, found: 2\n\n= .*, dynamic-apply\n\n! `, out)
	stories := strings.Split(out, "\n! ")[1:]
	require.Len(t, stories, 4)
	for i, c := range []struct{ law, text string }{
		{"Ready is True only while it is: ", "bye"}, {"a hook answers whatever its CRD admits: ", "hello"},
	} {
		require.Contains(t, stories[i], c.law)
		require.Regexp(t, `\nThe schedule:\nedit Greeting/hello \{"spec":\{.*"text":"`+c.text+`"\}\}\n\n`+
			`Schedules that fail so: \d+ of 40\.\nIt is played again by --apply dynamic-apply --replay \d+\n`, stories[i])
	}
}

// TestExploreTellsWhatItHasFoundWhenItIsInterrupted, which here the second bug does.
func TestExploreTellsWhatItHasFoundWhenItIsInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	explore := func() (out, says string) {
		var outBuffer, errBuffer bytes.Buffer
		code := Run(ctx, "operetta", Operators{Controllers: []metacontroller.Controller{rude(interrupt)}}, []string{"explore", "-", "--schedules", "1000000"},
			cli.Streams{In: strings.NewReader(bare), Out: &outBuffer, Err: &errBuffer})
		require.Equal(t, cli.ExitFailed, code)
		return outBuffer.String(), errBuffer.String()
	}
	out, says := explore()
	require.Contains(t, out, "\n! a hook answers whatever its CRD admits: ")
	require.NotContains(t, out, "server-side-apply")
	require.Contains(t, says, "explore has found broken invariants: see above")

	out, says = explore()
	require.Empty(t, out)
	require.Contains(t, says, "explore was interrupted, and has found nothing until then; schedules: 0")
}
