// Package laws holds operators to what is true of all of them, whatever their kind:
// of each answer to a case, and of each world in which a case or a sample is played.
// It is what package operettatest runs.
package laws
