package operator

import (
	"fmt"

	"github.com/distribution/reference"
)

// CheckImage returns what is wrong with an image that whoever installs an operator has
// written, by the name of its field: the API server would refuse each Pod with it.
func CheckImage(field, image string) error {
	if image == "" {
		return fmt.Errorf("%s: it is empty: write an image, or leave it out", field)
	}
	if _, err := reference.ParseNormalizedNamed(image); err != nil || len(image) > 1024 {
		return fmt.Errorf("%s: %.60q is no image: write one like registry.example.com/name:tag", field, image)
	}
	return nil
}
