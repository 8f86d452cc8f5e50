package commands

import (
	"errors"
	"fmt"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/run"
)

// simulated are documents that are played in a world.
type simulated struct {
	*program

	world                 *player.World
	text                  run.Printer
	validate, deleteAfter bool
	// unknown is told the fields that the API server would drop.
	unknown func(d document, fields []string)
}

// playRounds plays the documents round by round, and prints all steps.
func (s *simulated) playRounds(rounds [][]document) error {
	defer s.text.Steps(s.world)
	for i, round := range rounds {
		for _, d := range round {
			if err := s.apply(d); err != nil {
				return err
			}
		}
		play := s.world.PlayOn
		if i == len(rounds)-1 {
			play = s.world.Play
		}
		err := play()
		s.text.Outcomes(s.world)
		if err != nil {
			return err
		}
	}
	if !s.deleteAfter {
		return nil
	}
	s.world.DeleteParents()
	return s.world.Play()
}

// apply applies a document, and tells of fields that the API server would drop.
func (s *simulated) apply(d document) error {
	if controller, err := s.controllerFor(d); err == nil && s.validate {
		definition, content, err := definitionOf(d, controller)
		if err != nil {
			return err
		}
		if definition != nil {
			s.unknown(d, definition.Complete(content))
		}
	}
	if err := s.world.Apply(d.json); err != nil {
		return refusal{d.refused(err), d, err}
	}
	return nil
}

// refusal is why a document was refused, as it is printed, and what the API server said.
type refusal struct {
	error
	document document
	cause    error
}

// Unwrap returns what is printed.
func (r refusal) Unwrap() error { return r.error }

// verdict returns an error unless all custom resources are Ready and all actions have had an effect.
func verdict(world *player.World, faults bool) error {
	var vain []string
	for _, one := range world.InVain() {
		vain = append(vain, one.String())
	}
	if len(vain) > 0 {
		return fmt.Errorf("it had no effect: %s", strings.Join(vain, "; "))
	}
	var unready []string
	for _, outcome := range world.Outcomes() {
		name := outcome.Parent.GetKind() + " " + kube.RefOf(outcome.Parent).Key()
		switch {
		case outcome.Failure != "":
			unready = append(unready, name+": "+outcome.Failure)
		case outcome.Ready != "True" && !faults:
			unready = append(unready, name+" is not Ready: "+outcome.Reason+": "+outcome.Message)
		}
	}
	if len(unready) > 0 {
		return errors.New(strings.Join(unready, "; "))
	}
	return nil
}
