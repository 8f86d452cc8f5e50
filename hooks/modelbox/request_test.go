package modelbox_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/hooks/modelbox"
	"github.com/operetta-dev/operetta/metacontroller"
)

func BenchmarkReal(b *testing.B) {
	body, _ := os.ReadFile("/work/shared/requests/modelbox-converged-v2.json")
	var all map[string]any
	_ = json.Unmarshal(body, &all)
	all["related"] = map[string]any{"Service.v1": map[string]any{}}
	body, _ = json.Marshal(all)
	c := modelbox.Controller()
	b.SetBytes(int64(len(body)))
	_, _ = c.Call(metacontroller.SyncHook, time.Now(), body)
	b.Run("valid", func(b *testing.B) {
		for b.Loop() {
			json.Valid(body)
		}
	})
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Call(metacontroller.SyncHook, time.Now(), body); err != nil {
				b.Fatal(err)
			}
		}
	})
}
