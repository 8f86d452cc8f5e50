package cli

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// bounded is a flag with a range, which is in its error.
type bounded[T int | int64 | time.Duration] struct {
	value       *T
	least, most T
	form        form[T]
}

// form describes the values of a flag.
type form[T any] struct {
	name, example string
	parse         func(string) (T, error)
	print         func(T) string
}

var (
	count    = form[int]{"int", "64", strconv.Atoi, strconv.Itoa}
	duration = form[time.Duration]{"duration", "5s", time.ParseDuration, time.Duration.String}
	quantity = form[int64]{"quantity", "240Mi", parseQuantity, printQuantity}
)

func boundedFlag[T int | int64 | time.Duration](value *T, initial, least, most T, form form[T]) *bounded[T] {
	*value = initial
	return &bounded[T]{value, least, most, form}
}

// Set is called with the text of the command line or of the --config file.
func (b *bounded[T]) Set(text string) error {
	value, err := b.form.parse(text)
	if err != nil || value < b.least || value > b.most {
		return fmt.Errorf("write a value like %s, from %s to %s", b.form.example, b.form.print(b.least), b.form.print(b.most))
	}
	*b.value = value
	return nil
}

// String returns the value as the help shows it.
func (b *bounded[T]) String() string {
	if b.value == nil {
		return ""
	}
	return b.form.print(*b.value)
}

// Type returns what the help calls the value.
func (b *bounded[T]) Type() string { return b.form.name }

func parseQuantity(text string) (int64, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, err
	}
	if bytes, ok := q.AsInt64(); ok {
		return bytes, nil
	}
	return 0, fmt.Errorf("no whole number of bytes")
}

func printQuantity(bytes int64) string {
	return resource.NewQuantity(bytes, resource.BinarySI).String()
}
