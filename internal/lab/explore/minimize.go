package explore

import "context"

// Minimize removes what a schedule does not need to break the same law in the same way, and
// returns the rest with its run. It plays the schedule up to most times, or until the context ends.
func (s *Scenario) Minimize(ctx context.Context, schedule Schedule, broken Violation, most int) (*Run, Schedule) {
	fails := func(candidate Schedule) bool {
		most--
		run := s.Play(candidate)
		return run.Broken != nil && run.Broken.cause() == broken.cause()
	}
	if !fails(schedule) {
		return s.Play(schedule), schedule // a replay of it breaks another law
	}
	for size := max(1, len(schedule)/2); size >= 1 && most > 0 && ctx.Err() == nil; {
		removed := false
		for at := 0; at < len(schedule) && most > 0 && ctx.Err() == nil; {
			end := min(at+size, len(schedule))
			candidate := append(append(Schedule{}, schedule[:at]...), schedule[end:]...)
			if fails(candidate) {
				schedule, removed = candidate, true
			} else {
				at = end
			}
		}
		if size == 1 && !removed {
			break
		}
		if !removed || size > len(schedule) {
			size = max(1, size/2)
		}
	}
	return s.Play(schedule), schedule
}
