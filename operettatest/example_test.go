package operettatest_test

import (
	"fmt"
	"testing"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// The test of all operators of a project. Its folder is the root of the project.
func ExampleRun() {
	_ = func(t *testing.T) { operettatest.Run(t, "..", webController()) }  // TestOperators
	_ = func(f *testing.F) { operettatest.Fuzz(f, "..", webController()) } // FuzzHooks
}

// A row of a table: what the hook says of a Deployment of which one Pod is not ready.
func ExampleAsk() {
	t := new(testing.T) // a test has its own
	answer := operettatest.Ask(t, webController(), metacontroller.SyncHook, operettatest.Request{
		Parent:   "{metadata: {name: shop}, spec: {image: nginx, replicas: 2}}",
		Children: []operettatest.Object{operettatest.Deployment("shop", 2, 1)},
	})
	fmt.Println(answer.Refs())
	fmt.Println(answer.Condition("Ready").Status)
	// Output:
	// [Deployment/shop]
	// False
}

// Over time: Pods that crash, until a better image comes.
func ExampleNewWorld() {
	t := new(testing.T) // a test has its own
	const web = "{apiVersion: toys.example.com/v1, kind: Web, metadata: {name: shop}, spec: {replicas: 2, image: "
	world := operettatest.NewWorld(t, operettatest.Options{Fail: []string{"Image/broken"}}, webController())
	world.Apply(web + "broken}}")
	world.Play()
	fmt.Println(world.Condition("Web/shop", "Ready").Status)

	world.Apply(web + "mended}}")
	world.Play()
	fmt.Println(world.Condition("Web/shop", "Ready").Status)
	// Output:
	// False
	// True
}

// What vanishes comes back.
func ExampleWorld_Delete() {
	t := new(testing.T) // a test has its own
	world := operettatest.NewWorld(t, operettatest.Options{}, webController())
	world.Apply("{apiVersion: toys.example.com/v1, kind: Web, metadata: {name: shop}, spec: {image: nginx}}")
	world.Play()
	world.Delete("Deployment/shop")
	world.Play()
	fmt.Println(world.Created("Deployment"))
	world.Delete("Web/shop")
	world.Play()
	world.RequireGone()
	// Output: [shop shop]
}

// Observed children say what they are about, and can be changed.
func ExampleWith() {
	t := new(testing.T) // a test has its own
	late := operettatest.With(operettatest.Deployment("shop", 2, 2), "{metadata: {generation: 2}}")
	answer := operettatest.Ask(t, webController(), metacontroller.SyncHook, operettatest.Request{
		Parent: "{metadata: {name: shop}, spec: {image: nginx, replicas: 2}}", Children: []operettatest.Object{late},
	})
	fmt.Println(answer.Condition("Ready").Status, "while its controller has not looked at it")
	// Output: False while its controller has not looked at it
}
