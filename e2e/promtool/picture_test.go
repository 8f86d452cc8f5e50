package promtool_test

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Sizes of the picture, as Grafana's grid of 24 columns has them.
const (
	columns  = 24
	cell     = vg.Length(22)
	row      = vg.Length(18)
	margin   = vg.Length(6)
	mostTold = 7 // series of a panel that its legend names
)

// draw writes a picture of the panels with their data, in the places that the dashboard
// gives them. Grafana's own look is its own.
func draw(board dashboard, path string) error {
	height := 0
	for _, p := range board.Panels {
		height = max(height, p.GridPos.Y+p.GridPos.H)
	}
	canvas := vgimg.NewWith(vgimg.UseWH(columns*cell, vg.Length(height)*row), vgimg.UseDPI(96), vgimg.UseBackgroundColor(color.Gray{Y: 0xf4}))
	whole := vgdraw.New(canvas)
	for _, p := range board.Panels {
		left, top := vg.Length(p.GridPos.X)*cell, vg.Length(height-p.GridPos.Y)*row
		place := vgdraw.Canvas{Canvas: canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left + margin/2, Y: top - vg.Length(p.GridPos.H)*row + margin/2},
			Max: vg.Point{X: left + vg.Length(p.GridPos.W)*cell - margin/2, Y: top - margin/2},
		}}
		if p.Type == "row" {
			write(whole, p.Title, 11, vg.Point{X: left + margin, Y: place.Min.Y}, color.Black)
			continue
		}
		place.SetColor(color.White)
		place.Fill(place.Path())
		if err := p.draw(place); err != nil {
			return fmt.Errorf("%s: %w", p.Title, err)
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(file); err != nil {
		return err
	}
	return file.Close()
}

func write(c vgdraw.Canvas, s string, size vg.Length, at vg.Point, ink color.Color) {
	c.FillText(text.Style{Color: ink, Font: font.From(plot.DefaultFont, size), Handler: plot.DefaultTextHandler}, at, s)
}

func (p panel) draw(place vgdraw.Canvas) error {
	corner := vg.Point{X: place.Min.X + margin, Y: place.Max.Y - 14}
	switch p.Type {
	case "stat":
		write(place, p.Title, 9, corner, color.Black)
		last := p.data[0].points[len(p.data[0].points)-1].F
		write(place, inUnit(last, p.FieldConfig.Defaults.Unit), 28, vg.Point{X: corner.X, Y: place.Min.Y + 24}, color.RGBA{R: 0x1f, G: 0x60, B: 0x9f, A: 0xff})
		return nil
	case "table":
		write(place, p.Title, 9, corner, color.Black)
		for i, entry := range p.data {
			at := vg.Point{X: corner.X, Y: corner.Y - vg.Length(i+1)*12}
			if at.Y < place.Min.Y+4 {
				break
			}
			write(place, fmt.Sprintf("%s: %s", entry.name, inUnit(entry.points[len(entry.points)-1].F, p.FieldConfig.Defaults.Unit)), 8, at, color.Black)
		}
		return nil
	}
	chart := plot.New()
	chart.Title.Text = p.Title
	chart.Title.TextStyle.Font.Size, chart.Title.Padding = 9, 4
	chart.X.Tick.Label.Font.Size, chart.Y.Tick.Label.Font.Size, chart.Legend.TextStyle.Font.Size = 7, 7, 6
	chart.X.Label.Text, chart.X.Label.TextStyle.Font.Size = "seconds", 7
	chart.Legend.Top, chart.Legend.Left, chart.Legend.ThumbnailWidth = true, true, 10
	chart.Y.Tick.Marker = unitTicks(p.FieldConfig.Defaults.Unit)
	chart.Y.Min, chart.Y.Max = 0, 0
	slices.SortFunc(p.data, func(a, b line) int { return strings.Compare(a.name, b.name) })
	for i, one := range p.data {
		var points plotter.XYs
		for _, point := range one.points {
			if !math.IsNaN(point.F) { // a mean of nothing
				points = append(points, plotter.XY{X: float64(point.T-p.data[0].points[0].T) / 1000, Y: point.F})
			}
		}
		if len(points) == 0 {
			continue
		}
		curve, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		curve.Color, curve.Dashes = plotutil.Color(i), plotutil.Dashes(i/7)
		chart.Add(curve)
		if i < mostTold {
			chart.Legend.Add(one.name, curve)
		}
	}
	chart.Y.Max *= 1.6 // room for the legend
	chart.Draw(vgdraw.Crop(place, margin, -margin, margin, -margin))
	return nil
}

// unitTicks labels an axis in a unit of Grafana.
type unitTicks string

func (u unitTicks) Ticks(least, most float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(least, most)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = inUnit(ticks[i].Value, string(u))
		}
	}
	return ticks
}

func inUnit(value float64, unit string) string {
	switch unit {
	case "bytes":
		for _, name := range []string{"B", "KiB", "MiB"} {
			if value < 1024 {
				return fmt.Sprintf("%.3g %s", value, name)
			}
			value /= 1024
		}
		return fmt.Sprintf("%.3g GiB", value)
	case "s":
		return fmt.Sprintf("%.3g ms", 1000*value)
	case "percentunit":
		return fmt.Sprintf("%.3g %%", 100*value)
	case "reqps", "ops":
		return fmt.Sprintf("%.3g/s", value)
	}
	return fmt.Sprintf("%.4g", value)
}
