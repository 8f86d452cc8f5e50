// Package gotest has the script with which the Makefile runs go test.
package gotest
