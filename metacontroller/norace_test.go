//go:build !race

package metacontroller

const underRace = false
