// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// Check compares each gateway with the Helm release that it takes over, whose Secrets are in the input too, and says what
// would change. It is a text for people.
func (r *Result) Check(options Options) (report string, problems []render.Problem) {
	var out strings.Builder
	for i, g := range r.gateways {
		if i > 0 {
			out.WriteByte('\n')
		}
		lines, faults := g.compare(options)
		problems = append(problems, faults...)
		for _, line := range lines {
			out.WriteString(line + "\n")
		}
	}
	return out.String(), problems
}

// compare says what becomes of one release.
func (g *gateway) compare(options Options) ([]string, []render.Problem) {
	p, err := g.wanted(options.Environment)
	if err != nil {
		return nil, []render.Problem{g.in.Problem("", "what would be deployed is not known: "+because(err))}
	}
	release := types.NamespacedName{Namespace: p.Release.StorageNamespace, Name: p.Release.Name}
	runs, err := latest(g.secrets[release])
	if err == nil && runs == nil {
		err = errors.New(g.notStored(release))
	}
	if err != nil {
		return nil, []render.Problem{g.in.Problem("", err.Error())}
	}
	changes, err := changesOf(runs, p)
	if err != nil {
		return nil, []render.Problem{g.in.Problem("", err.Error())}
	}
	lines := []string{fmt.Sprintf("APIGateway %s takes over Helm release %s: revision %d, %s, chart %s %s",
		g.name, release, runs.Revision, runs.Info.Status, runs.Chart.Metadata.Name, runs.Chart.Metadata.Version)}
	if strings.HasPrefix(runs.Info.Status, "pending-") {
		lines = append(lines, "  the release is locked by an action that did not end; Flux unlocks it, and upgrades")
	}
	lines = append(lines, chartLine(p, runs), "  values:")
	lines = append(lines, indented(changes)...)
	return append(append(lines, "  pods:"), indented(podLines(runs))...), nil
}

func indented(lines []string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, "    "+line)
	}
	return all
}

// wanted is the plan of the gateway as it is printed.
func (g *gateway) wanted(env plan.Environment) (*plan.Plan, error) {
	typed, err := g.typed()
	if err != nil {
		return nil, err
	}
	return plan.Make(plan.Input{
		Gateway: typed, Classes: []v1alpha1.APIGatewayClass{*g.class}, Config: g.config,
		ControllerName: deref(g.class.Spec.ControllerName), Environment: env,
	})
}

// changesOf are the differences between the values that were given and those that would be.
func changesOf(runs *stored, p *plan.Plan) ([]string, error) {
	before, err := runs.values()
	if err != nil {
		return nil, err
	}
	after, problems := plan.ReadValues(p.Release.Values)
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "; "))
	}
	changes := differences("", emptyIfNil(before), emptyIfNil(after))
	if len(changes) == 0 {
		changes = []string{"equal"}
	}
	return changes, nil
}

// notStored says which releases there are instead.
func (g *gateway) notStored(release types.NamespacedName) string {
	var there []string
	for other := range g.secrets {
		if other.Namespace == release.Namespace {
			there = append(there, other.Name)
		}
	}
	if len(there) == 0 {
		return fmt.Sprintf("Helm release %s is not in the input, nor any other of that namespace; pass the Secrets of Helm "+
			"(kubectl get secrets -A -l owner=helm -o yaml) with -f", release)
	}
	slices.Sort(there)
	return fmt.Sprintf("Helm release %s is not in the input, and would be installed anew; that namespace has: %s; name the gateway's with --release-name %s=NAME",
		release, strings.Join(there, ", "), g.name)
}

// because is why there is no plan, in one line.
func because(err error) string {
	var refused *plan.Error
	if !errors.As(err, &refused) {
		return err.Error()
	}
	text := refused.Error()
	if refused.Reason() == v1alpha1.ReasonCapabilityUnknown {
		text += "; say with --api-versions what the cluster serves"
	}
	return text
}

// chartLine compares the version that runs with what the gateway's source asks for.
func chartLine(p *plan.Plan, runs *stored) string {
	version, ref := runs.Chart.Metadata.Version, p.Source.Spec.Reference
	running, _, _ := strings.Cut(version, "+")
	switch {
	case ref == nil || ref.Digest != "":
		return "  chart: another source; whether it is the same version is not known"
	case ref.Tag != "" && ref.Tag == running:
		return "  chart: the same version"
	case ref.Tag != "":
		return fmt.Sprintf("  chart: %s -> %s", version, ref.Tag)
	}
	constraint, err := semver.NewConstraint(ref.SemVer)
	installed, notVersion := semver.NewVersion(running)
	if err == nil && notVersion == nil && constraint.Check(installed) {
		return fmt.Sprintf("  chart: %s -> the highest of %s, which may be the same", version, ref.SemVer)
	}
	return fmt.Sprintf("  chart: %s -> the highest of %s, which is another", version, ref.SemVer)
}

// differences are the paths at which two trees of values differ, with both values.
func differences(path string, before, after any) []string {
	was, _ := before.(map[string]any)
	is, _ := after.(map[string]any)
	if !isMap(before) || !isMap(after) {
		if reflect.DeepEqual(before, after) {
			return nil
		}
		return []string{fmt.Sprintf("%s: %s -> %s", path, shown(before), shown(after))}
	}
	both := maps.Clone(was)
	maps.Copy(both, is)
	var all []string
	for _, key := range slices.Sorted(maps.Keys(both)) {
		at := plan.Path{{Key: key}}.String()
		if path != "" {
			at = path + "." + at
		}
		old, had := was[key]
		now, has := is[key]
		switch {
		case !had && plan.IsSet(now) && isMap(now):
			all = append(all, differences(at, map[string]any{}, now)...)
		case !had:
			all = append(all, fmt.Sprintf("%s: not set -> %s", at, shown(now)))
		case !has && plan.IsSet(old) && isMap(old):
			all = append(all, differences(at, old, map[string]any{})...)
		case !has:
			all = append(all, fmt.Sprintf("%s: %s -> not set", at, shown(old)))
		default:
			all = append(all, differences(at, old, now)...)
		}
	}
	return all
}

func emptyIfNil(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	return values
}

func isMap(value any) bool {
	_, yes := value.(map[string]any)
	return yes
}

func shown(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
