// Package laws checks what is true of all operators, whatever their kind: of
// each answer to a case, and of each world in which a case or a sample is
// played. Package operettatest runs it.
package laws
