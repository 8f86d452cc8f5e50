package hooks_test

import "testing"

// BenchmarkHook answers every case, over the bytes of its request.
func BenchmarkHook(b *testing.B) {
	for _, e := range cases(b) {
		if _, err := e.call(); err != nil {
			continue
		}
		b.Run(e.name, func(b *testing.B) {
			b.SetBytes(int64(len(e.request)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
