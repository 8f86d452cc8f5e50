// Package picture draws what happens in a simulated cluster as SVG: objects as lanes
// over time, with their states as bars and what is done to them as marks.
//
// [Write] takes three steps. story.go reads the World's steps into lanes, which arrange.go
// orders; axis.go gives times their places and cuts long waits; draw.go writes it all.
//
// The text is that of an image: it has no script, no font and no address of its own. State
// is told by words and by the form of an edge as well as by colour, and again in words in
// the description for those who see no picture.
package picture
