// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import "path/filepath"

// places are the demo's files.
type places struct {
	checkout string // absolute
	root     string // the demo's folder
}

func newPlaces(checkout string) places {
	return places{checkout: checkout, root: filepath.Join(checkout, "bin", "demo")}
}

func (p places) turn() string     { return filepath.Join(p.root, "turn") }
func (p places) cluster() string  { return filepath.Join(p.root, "cluster") }
func (p places) team() string     { return filepath.Join(p.root, "team") }
func (p places) logs() string     { return filepath.Join(p.cluster(), "logs") }
func (p places) example() string  { return filepath.Join(p.checkout, "examples", "quickstart") }
func (p places) chart() string    { return filepath.Join(p.checkout, "charts", "gateway") }
func (p places) commands() string { return filepath.Join(p.checkout, "bin") }
func (p places) tools() string    { return filepath.Join(p.checkout, "bin", "tools") }

// supervisor is the name of the log of the program that runs the cluster.
const supervisor = "supervisor"

// log is the log of a process of the cluster, or of their supervisor.
func (p places) log(process string) string {
	if process == supervisor {
		return filepath.Join(p.cluster(), supervisor+".log")
	}
	return filepath.Join(p.logs(), process+".log")
}
