// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// keeper starts what has ended, as a kubelet does: after a kill, and after a start that failed since the API server was away.
type keeper struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu   sync.Mutex
	down map[string]time.Time // until when a component stays dead
	gone map[string]bool      // for good
}

// components are all that may die, and be started again.
var components = []string{
	cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler, cluster.Kwok, cluster.Registry,
	cluster.SourceController, cluster.KustomizeController, cluster.HelmController, operator.ProcessName, second,
}

// second is the process name of the second operator.
const second = "sluice-second"

func keep(ctx context.Context) *keeper {
	ctx, cancel := context.WithCancel(ctx)
	k := &keeper{cancel: cancel, down: map[string]time.Time{}, gone: map[string]bool{second: true}}
	for _, name := range components {
		k.done.Go(func() { k.watch(ctx, name) })
	}
	return k
}

func (k *keeper) watch(ctx context.Context, name string) {
	for ctx.Err() == nil {
		if k.due(name) && !local.Process(name).Alive() {
			_ = local.Process(name).Start(ctx) // it fails while what it needs is down too; then again
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (k *keeper) due(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.gone[name] && time.Now().After(k.down[name])
}

// kill kills a component, and has it stay dead for a while.
func (k *keeper) kill(name string, down time.Duration) error {
	k.mu.Lock()
	k.down[name] = time.Now().Add(down)
	k.mu.Unlock()
	return local.Process(name).Kill()
}

// heal has all of them live from now on.
func (k *keeper) heal() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.down = map[string]time.Time{}
}

// adopt looks after a process that was started; release lets it end.
func (k *keeper) adopt(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.gone, name)
}

func (k *keeper) release(name string) error {
	k.mu.Lock()
	k.gone[name] = true
	k.mu.Unlock()
	return local.Process(name).Kill()
}

// stop ends the keeping, the operators, and what has ended by itself just now, so that the cluster's end complains of none.
func (k *keeper) stop() error {
	k.cancel()
	k.done.Wait()
	var errs []error
	for _, name := range components {
		if name == operator.ProcessName || name == second || !local.Process(name).Alive() {
			errs = append(errs, local.Process(name).Kill())
		}
	}
	return errors.Join(errs...)
}
