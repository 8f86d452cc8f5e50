package hooks_test

import "testing"

// BenchmarkHook answers every case, over the bytes of its request.
func BenchmarkHook(b *testing.B) {
	for _, e := range cases(b) {
		if _, err := e.Call(); err != nil {
			continue
		}
		b.Run(e.Name, func(b *testing.B) {
			b.SetBytes(int64(len(e.Request)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
