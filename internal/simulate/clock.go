package simulate

import "time"

// start is the time at which every simulation begins.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// clock is the time inside a simulation. It stands still between the steps.
type clock struct{ now time.Time }

// Now returns the time.
func (c *clock) Now() time.Time { return c.now }
