// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
)

// Parts says how much of a cluster to start.
type Parts int

const (
	// Full is everything.
	Full Parts = iota
	// APIServerOnly is etcd, the API server and controller-manager (for garbage collection and namespaces), with Flux's CRDs
	// and the namespace flux-system, but nobody who acts on Flux's objects. Pods are not scheduled.
	APIServerOnly
	// KubernetesOnly is a cluster in which pods run, and that knows nothing of Flux: one that Flux reaches from elsewhere.
	KubernetesOnly
)

func (p Parts) runPods() bool  { return p != APIServerOnly }
func (p Parts) haveCRDs() bool { return p != KubernetesOnly }

// The names of a cluster's processes, for Options.Args and Cluster.Process.
const (
	Etcd                = "etcd"
	APIServer           = "kube-apiserver"
	ControllerManager   = "kube-controller-manager"
	Scheduler           = "kube-scheduler"
	Kwok                = "kwok"
	Registry            = "registry"
	SourceController    = "source-controller"
	KustomizeController = "kustomize-controller"
	HelmController      = "helm-controller"
)

// FluxNamespace is where Flux's controllers would live were they pods, and the namespace that they run with.
const FluxNamespace = "flux-system"

// Options say what to start and where.
type Options struct {
	// Dir takes everything that the cluster writes: certificates, data, kubeconfigs, git repositories, logs. It is made if it
	// is missing; what an earlier cluster left in it is removed. It must be empty else.
	Dir string
	// Parts defaults to Full.
	Parts Parts
	// Args are added to a process's command line, by the names above; where a flag is given twice the later wins.
	// For example {HelmController: {"--feature-gates=CancelHealthCheckOnNewRevision=true"}}.
	Args map[string][]string
	// Nodes is the number of fake nodes; 0 means 3. A node has room for any number of pods.
	Nodes int
	// Progress, if set, is told in a few words what has just become ready. Its calls do not overlap.
	Progress func(string)
}

// complete checks the options and fills in defaults.
func (o Options) complete() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("cluster: Options.Dir is not set")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, err
	}
	o.Dir = dir
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	for name := range o.Args {
		if !isComponent(name) {
			return o, fmt.Errorf("cluster: Options.Args: no process is named %q", name)
		}
	}
	o.Progress = oneAtATime(o.Progress)
	return o, nil
}

// programs are the tools that a cluster needs. APIServerOnly runs few of them, but has the CRDs that come with the others.
func programs() []string { return append([]string{kubectl, helm, flux}, components...) }

var components = []string{
	Etcd, APIServer, ControllerManager, Scheduler, Kwok, Registry, SourceController, KustomizeController, HelmController,
}

func isComponent(name string) bool {
	for _, component := range components {
		if component == name {
			return true
		}
	}
	return false
}

func oneAtATime(progress func(string)) func(string) {
	if progress == nil {
		return func(string) {}
	}
	var mu sync.Mutex
	return func(text string) {
		mu.Lock()
		defer mu.Unlock()
		progress(text)
	}
}
