// Package operator is what an operator is written with. It has the conditions of its status
// and when to check again, the names and labels of its children, how many of them to create
// at once, and the state of observed Pods and workloads.
package operator
