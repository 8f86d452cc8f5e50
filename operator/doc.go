// Package operator is what an operator is written with: the conditions of its status
// and when to look again, the names and labels of its children, how many of them to ask
// for at once, and what observed Pods and workloads tell.
package operator
