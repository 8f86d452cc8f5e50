package picture

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at are times in seconds.
func at(seconds ...int) (times []time.Duration) {
	for _, s := range seconds {
		times = append(times, time.Duration(s)*time.Second)
	}
	return times
}

func TestAxis(t *testing.T) {
	for name, test := range map[string]struct {
		times []time.Duration
		at    []int
		cuts  []int
	}{
		"one time":                 {at(0), []int{100}, nil},
		"seconds are linear":       {at(0, 1, 2, 4), []int{100, 300, 500, 900}, nil},
		"times of one step":        {at(0, 0, 1), []int{100, 900}, nil},
		"eight times is no cut":    {at(0, 1, 9), []int{100, 188, 900}, nil},
		"a long wait is cut":       {at(0, 1, 3601), []int{100, 796, 900}, []int{878}},
		"an hour of equal waits":   {at(0, 1200, 2400, 3600), []int{100, 366, 633, 900}, nil},
		"cuts leave half the room": {at(0, 1, 101, 201, 301, 401, 501, 601, 701, 801), []int{100, 500, 550, 600, 650, 700, 750, 800, 850, 900}, []int{539, 589, 639, 689, 739, 789, 839, 889}},
	} {
		a := newAxis(test.times, 100, 1000, 100)
		require.Equal(t, test.at, a.at, name)
		require.Equal(t, test.cuts, a.cuts, name)
		for i, x := range test.at {
			require.Equal(t, x, a.x(a.times[i]), name)
		}
	}
	cut := newAxis(at(0, 1, 3601), 100, 1000, 100)
	require.Equal(t, 874, cut.room(800, 1000), "words end at the torn edge")
	require.Equal(t, 700, cut.room(100, 700))
	require.Equal(t, 1000, cut.room(900, 1000))
}
