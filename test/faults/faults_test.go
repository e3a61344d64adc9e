// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/test/apiproxy"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/gitops"
	"github.com/sluice-gateway/sluice/test/invariants"
	"github.com/sluice-gateway/sluice/test/operator"
	"github.com/sluice-gateway/sluice/test/suite"
)

// commits of a day.
const commits = 12

func TestBadDays(t *testing.T) {
	first, days := suite.Number(t, "SLUICE_SEED", 1), suite.Number(t, "SLUICE_SEEDS", 2)
	for seed := first; seed < first+days; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			d := newDay(t, uint64(seed))
			d.run()
		})
	}
}

// day is what one seed makes.
type day struct {
	*testing.T
	team   string
	random *rand.Rand
	model  *model
	git    *gitops.Repository
	began  time.Time
}

func newDay(t *testing.T, seed uint64) *day {
	t.Helper()
	return newDayOf(t, fmt.Sprintf("day-%d", seed), seed)
}

// newDayOf makes a day in a namespace of that name.
func newDayOf(t *testing.T, team string, seed uint64) *day {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	d := &day{T: t, team: team, random: random, model: newModel(team, random), began: time.Now()}
	// A cluster that has just recovered may take a moment.
	d.eventually("the namespace", func(ctx context.Context) error {
		return local.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+team+"}\n")
	})
	git, err := gitops.New(t.Context(), local, team, t.TempDir(), gitops.Options{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	d.git = git
	t.Cleanup(d.over)
	return d
}

// over has Flux look at the day's repository no more: the next day is to be no slower for it.
func (d *day) over() {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	for _, kind := range []string{"kustomizations.kustomize.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io"} {
		if _, err := local.Kubectl(ctx, "delete", kind, d.team, "--namespace", cluster.FluxNamespace, "--ignore-not-found"); err != nil {
			d.Error(err)
		}
	}
}

func (d *day) run() {
	d.push("begin", d.model.begin())
	d.converges("before anything happens")
	for range commits {
		message, files := d.model.change()
		d.push(message, files)
		d.happens()
		time.Sleep(time.Duration(d.random.IntN(2000)) * time.Millisecond) // chance is what this is about
	}
	d.calm()
	d.converges("after the bad day")
	d.push("remove everything", d.model.end())
	d.converges("with nothing left")
	d.judged()
	d.Logf("done to the operator's requests so far: %v", proxy.Done())
}

func (d *day) note(format string, arguments ...any) {
	d.Helper()
	d.Logf("%6.2fs %s", time.Since(d.began).Seconds(), fmt.Sprintf(format, arguments...))
}

func (d *day) push(message string, files gitops.Files) {
	d.Helper()
	d.note("commit: %s", message)
	if _, err := d.git.Push(d.Context(), message, files); err != nil {
		d.Fatal(err)
	}
}

// happens does one or two things that nobody wants.
func (d *day) happens() {
	for range 1 + d.random.IntN(2) {
		switch d.random.IntN(10) {
		case 0, 1, 2, 3:
			d.kill(d.victim(), time.Duration(d.random.IntN(3000))*time.Millisecond)
		case 4:
			d.kill(cluster.Registry, 6*time.Second)
		case 5:
			d.secondOperator()
		case 6:
			d.note("all watches are cut")
			proxy.CutWatches()
		default:
			d.weather()
		}
	}
}

// victim is most often what matters most.
func (d *day) victim() string {
	all := []string{
		operator.ProcessName, operator.ProcessName, operator.ProcessName, cluster.HelmController, cluster.HelmController, cluster.HelmController,
		cluster.SourceController, cluster.KustomizeController, cluster.APIServer, cluster.APIServer, cluster.Etcd, cluster.ControllerManager,
	}
	return all[d.random.IntN(len(all))]
}

func (d *day) kill(name string, down time.Duration) {
	d.note("kill %s for %s", name, down)
	if err := alive.kill(name, down); err != nil {
		d.Fatal(err)
	}
}

// secondOperator comes, or goes.
func (d *day) secondOperator() {
	if local.Process(second).Alive() {
		d.note("the second operator is killed for good")
		if err := alive.release(second); err != nil {
			d.Fatal(err)
		}
		return
	}
	d.note("a second operator starts")
	alive.adopt(second)
}

func (d *day) weather() {
	w := apiproxy.Weather{
		Hang: 3 * time.Second, Delay: time.Duration(d.random.IntN(1500)) * time.Millisecond, Hold: time.Duration(d.random.IntN(2000)) * time.Millisecond,
	}
	some := []*float64{
		&w.TooManyRequests, &w.InternalError, &w.Conflict, &w.Timeout, &w.LostAnswer, &w.Slow, &w.CutWatch, &w.HeldWatch, &w.Refuse,
	}
	for range 1 + d.random.IntN(3) {
		*some[d.random.IntN(len(some))] = 0.1 + 0.4*d.random.Float64()
	}
	d.note("weather: %+v", w)
	proxy.Set(w)
}

// calm ends all that was done.
func (d *day) calm() {
	d.note("calm")
	proxy.Set(apiproxy.Weather{})
	alive.heal()
	if local.Process(second).Alive() {
		if err := alive.release(second); err != nil {
			d.Fatal(err)
		}
	}
}

// converges: all becomes as the last commit says.
func (d *day) converges(when string) {
	d.Helper()
	begin := time.Now()
	err := cluster.Await(d.Context(), bound, when, func(ctx context.Context) error {
		return d.asCommitted(ctx)
	})
	if err != nil {
		d.judged()
		d.Fatalf("%v\nwhat happened:\n%s", err, d.story())
	}
	d.note("all is as committed, %s, %.1fs later", when, time.Since(begin).Seconds())
}

// ours says whether a name is of the day's namespace.
func (d *day) ours(name types.NamespacedName) bool { return name.Namespace == d.team }

// world is what there is.
func (d *day) world() *invariants.World {
	d.Helper()
	changes, err := past.Changes(d.Context(), d.ours)
	if err != nil {
		d.Fatal(err)
	}
	world, _ := invariants.Judge(changes)
	return world
}

func (d *day) asCommitted(ctx context.Context) error {
	changes, err := past.Changes(ctx, d.ours)
	if err != nil {
		return err
	}
	world, _ := invariants.Judge(changes)
	var wrong []string
	for name, w := range d.model.wishes {
		wrong = append(wrong, w.differs(world, types.NamespacedName{Namespace: d.team, Name: name}, d.model.note)...)
	}
	for name := range world.Gateways {
		if _, wished := d.model.wishes[name.Name]; !wished {
			wrong = append(wrong, name.Name+" is there and should not be")
		}
	}
	wrong = append(wrong, world.Left()...)
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("%s", strings.Join(wrong, "\n"))
}

// judged: what must never be never was.
func (d *day) judged() {
	d.Helper()
	changes, err := past.Changes(d.Context(), d.ours)
	if err != nil {
		d.Error(err)
		return
	}
	_, wrong := invariants.Judge(changes)
	for _, what := range wrong {
		d.Error(what)
	}
	if len(wrong) > 0 {
		d.Log(d.story())
	}
	d.Logf("%d states were judged", len(changes))
}

// story tells all states in order.
func (d *day) story() string {
	changes, err := past.Changes(context.WithoutCancel(d.Context()), d.ours)
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	before := map[string]string{}
	for _, c := range changes {
		line := invariants.Describe(c)
		key := fmt.Sprintf("%T %s", c.Object, c.Name)
		if before[key] == line {
			continue
		}
		before[key] = line
		fmt.Fprintf(&text, "%6.2fs %d %s\n", c.Seen.Sub(d.began).Seconds(), c.Revision, line)
	}
	return text.String()
}
