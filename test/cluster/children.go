// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// children are all processes of a cluster that this process started.
type children struct {
	dir     string
	changed func() // told after each start and end

	mu     sync.Mutex
	closed bool
	order  []string // by start
	named  map[string]*child
}

func newChildren(dir string) *children {
	return &children{dir: dir, changed: func() {}, named: map[string]*child{}}
}

var errStopped = errors.New("the cluster has been stopped")

func (c *children) start(ctx context.Context, spec ProcessSpec) error {
	added, err := c.add(spec)
	if err != nil {
		return err
	}
	if err := added.start(ctx); err != nil {
		c.remove(spec.Name)
		return err
	}
	c.changed()
	return nil
}

func (c *children) add(spec ProcessSpec) (*child, error) {
	if spec.Name == "" || filepath.Base(spec.Name) != spec.Name || !filepath.IsAbs(spec.Path) {
		return nil, fmt.Errorf("process spec %q: Name must be one word and Path absolute, not %q", spec.Name, spec.Path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errStopped
	}
	old, known := c.named[spec.Name]
	if known && old.status().Alive {
		return nil, fmt.Errorf("%s runs already (pid %d)", spec.Name, old.status().PID)
	}
	if !known {
		c.order = append(c.order, spec.Name)
	}
	added := &child{
		spec: spec,
		log:  filepath.Join(c.dir, "logs", spec.Name+".log"),
		env:  append(environment(c.dir), spec.Env...),
	}
	c.named[spec.Name] = added
	return added, nil
}

// remove forgets a process that did not get ready.
func (c *children) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.named, name)
	for i, at := range c.order {
		if at == name {
			c.order = append(c.order[:i], c.order[i+1:]...)
			return
		}
	}
}

func (c *children) find(name string) (*child, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.named[name]
	if !ok {
		return nil, fmt.Errorf("the cluster has no process named %q", name)
	}
	return found, nil
}

func (c *children) act(ctx context.Context, name string, what action) (Status, error) {
	found, err := c.find(name)
	if err != nil {
		return Status{}, err
	}
	switch what {
	case actStart:
		err = found.start(ctx)
	case actStop:
		err = found.end(found.spec.Grace)
	case actKill:
		err = found.end(0)
	case actStatus:
		return found.status(), nil
	default:
		err = fmt.Errorf("unknown action %q", what)
	}
	c.changed()
	return found.status(), err
}

// statuses are in the order of starting.
func (c *children) statuses() []Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	statuses := make([]Status, len(c.order))
	for i, name := range c.order {
		statuses[i] = c.named[name].status()
	}
	return statuses
}

// stop ends all, the last started first, and refuses any start from then on. A process that had ended by itself is an error.
func (c *children) stop() error {
	c.mu.Lock()
	c.closed = true
	var all []*child
	for _, name := range c.order {
		all = append(all, c.named[name])
	}
	c.mu.Unlock()
	var errs []error
	for i := len(all) - 1; i >= 0; i-- {
		errs = append(errs, all[i].retire())
	}
	return errors.Join(errs...)
}

// environment is what every program gets that the cluster runs.
func environment(dir string) []string {
	home := filepath.Join(dir, "home")
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + filepath.Join(dir, "tmp"), "LC_ALL=C"}
}
