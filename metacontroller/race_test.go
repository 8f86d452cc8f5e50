//go:build race

package metacontroller

// underRace is set where the race detector is on, which takes memory and time of
// its own.
const underRace = true
