package hooks_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/operator"
)

// atOnce is how many requests are sent at a time.
const atOnce = 4

// tryNew tries what is created where nothing is yet, and returns how much that is.
func (a *acceptance) tryNew(t *testing.T) int {
	var list []*trial
	for _, one := range a.trials {
		if one.New {
			a.server.arrange(one.Desired)
			list = append(list, one)
		}
	}
	try(t, list, func(one *trial) {
		one.note("create", a.post(one))
		one.note("apply", a.server.apply(one.Desired, dryRun))
	})
	return len(list)
}

// post creates a child as DynamicApply does.
func (a *acceptance) post(one *trial) error {
	posted, err := one.Posted()
	if err != nil {
		return err
	}
	return a.server.create(posted, dryRun)
}

// tryLive tries what is updated, beside the children of the scenario without an
// edit, and returns how much that is.
func (a *acceptance) tryLive(t *testing.T, base []player.Asked) int {
	var list []*trial
	for _, one := range a.trials {
		if !one.New {
			list = append(list, one)
		}
	}
	a.beside(t, base, player.DynamicApply, func(live map[kube.Ref]kube.Object) {
		try(t, list, func(one *trial) {
			before := live[kube.RefOf(one.Desired)]
			if before == nil { // the same edit has created it
				one.note("create", a.post(one))
				return
			}
			put, err := one.Put(before)
			if err == nil {
				err = a.server.update(put, dryRun)
			}
			one.note("update", err)
		})
	})
	a.beside(t, base, player.ServerSideApply, func(map[kube.Ref]kube.Object) {
		try(t, list, func(one *trial) { one.note("apply", a.server.apply(one.Desired, dryRun)) })
	})
	return len(list)
}

// beside creates the children of a scenario for as long as something is tried.
func (a *acceptance) beside(t *testing.T, base []player.Asked, strategy player.Strategy, do func(live map[kube.Ref]kube.Object)) {
	live := map[kube.Ref]kube.Object{}
	for _, asked := range base {
		a.server.arrange(asked.Desired)
		ref := kube.RefOf(asked.Desired)
		require.NoError(t, a.write(asked, live[ref], strategy), ref)
		live[ref] = a.server.get(asked.Desired)
		require.NotNil(t, live[ref], ref)
	}
	defer func() {
		for _, object := range live {
			require.NoError(t, a.server.delete(object))
		}
	}()
	do(live)
}

// write writes a child of which live is there, if it is not nil.
func (a *acceptance) write(asked player.Asked, live kube.Object, strategy player.Strategy) error {
	switch {
	case strategy == player.ServerSideApply:
		return a.server.apply(asked.Desired, forReal)
	case live == nil:
		posted, err := asked.Posted()
		if err != nil {
			return err
		}
		return a.server.create(posted, forReal)
	}
	put, err := asked.Put(live)
	if err != nil {
		return err
	}
	return a.server.update(put, forReal)
}

// try tries some at a time.
func try(t *testing.T, list []*trial, do func(*trial)) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, one := range list {
		group.Go(func() error { do(one); return nil })
	}
	require.NoError(t, group.Wait())
}

// note notes what the API server says.
func (one *trial) note(verb string, err error) {
	if err != nil {
		one.refused = append(one.refused, verb+" is refused: "+err.Error())
	}
}

// report fails the test for what was refused and is not told, and returns how much
// is refused and told.
func (a *acceptance) report(t *testing.T) int {
	told := 0
	for _, one := range a.trials {
		if len(one.refused) == 0 {
			continue
		}
		conditions, isTold := a.conditionsWhere(one)
		if one.spec.isEdited && isTold {
			told++
			continue
		}
		t.Errorf("%s: %s: %s\nthe conditions: %s", one.spec.name, kube.RefOf(one.Desired), strings.Join(one.refused, "; "), conditions)
	}
	for _, finding := range a.findings {
		t.Error(finding)
	}
	return told
}

// conditionsWhere returns what the conditions that are not True say when the API
// server refuses a child, and whatever else it has refused, again and again, and
// whether they tell a child that is refused. It need not be this one: what is
// refused at first may be asked for under another name.
func (a *acceptance) conditionsWhere(one *trial) (words string, isTold bool) {
	if one.spec.objects == nil {
		return "", false // a case cannot be played
	}
	refused := map[string]bool{}
	world := one.spec.play(func(asked player.Asked) error {
		known := a.known[keyOf(asked)]
		if known != nil && len(known.refused) > 0 || likeOf(asked) == likeOf(one.Asked) {
			refused[kube.RefOf(asked.Desired).String()] = true
			return errors.New("it is refused")
		}
		return nil
	})
	var list []string
	for _, parent := range world.Parents() {
		isTold = kube.ConditionOf(parent, operator.ConditionReady).Status == "False"
		conditions, _ := parent.Object["status"].(map[string]any)["conditions"].([]any)
		for _, item := range conditions {
			if condition := item.(map[string]any); condition["status"] != "True" {
				list = append(list, fmt.Sprintf("%s=%s: %s", condition["type"], condition["status"], condition["message"]))
			}
		}
	}
	words = strings.Join(list, "; ")
	named := slices.ContainsFunc(slices.Collect(maps.Keys(refused)), func(ref string) bool { return strings.Contains(words, ref) })
	return words, isTold && named
}
