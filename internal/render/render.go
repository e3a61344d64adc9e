// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/claims"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// Options of a rendering.
type Options struct {
	// Naming of the sources.
	Naming fluxobjects.Naming
	// ControllerName whose classes are rendered; empty means v1alpha1.DefaultControllerName.
	ControllerName string
	// Environment that plans depend on.
	Environment plan.Environment
}

// Result of a rendering.
type Result struct {
	// Objects of all gateways, sources first, each kind sorted by namespace and name.
	Objects []Object
	// Notes are worth knowing and no errors.
	Notes []Problem
	// Problems by file and line. With any, Objects are incomplete.
	Problems []Problem
}

// Render runs the stages for every gateway of the set.
func (s *Set) Render(options Options) Result {
	r := rendering{
		set: s, options: options, readings: plan.Readings{},
		claimed: map[claims.Key]string{}, made: map[string]made{}, told: map[Problem]bool{},
	}
	if !s.unread {
		r.readings.Read(s.classes)
		for some := range slices.Chunk(s.gatewayNames(), atOnce) {
			drafts := make([]draft, len(some))
			sideBySide(len(some), func(i int) { drafts[i] = r.draft(s.gateways[some[i]]) })
			for _, d := range drafts {
				r.add(d)
			}
		}
	}
	return r.result()
}

func (s *Set) gatewayNames() []types.NamespacedName {
	names := make([]types.NamespacedName, 0, len(s.gateways))
	for name := range s.gateways {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return names
}

// rendering is the work on one Result. Gateways are named as in messages: APIGateway apis/web.
type rendering struct {
	set     *Set
	options Options
	// readings of the set's classes.
	readings plan.Readings
	// claimed says which gateway has a Helm release's name.
	claimed  map[claims.Key]string
	made     map[string]made
	notes    []Problem
	problems []Problem
	// told are the problems without their lines.
	told map[Problem]bool
}

// made is an object of the output and the gateway that it was made for.
type made struct {
	object  Object
	gateway string
}

// draft is what comes of one gateway, whatever comes of the others.
type draft struct {
	entry   *gatewayEntry
	plan    *plan.Plan
	objects []Object
	err     error
}

// draft plans a gateway and makes its objects. It changes nothing, so that many are drafted side by side.
func (r *rendering) draft(entry *gatewayEntry) draft {
	d := draft{entry: entry}
	if entry.faulty {
		return d
	}
	if d.plan, d.err = plan.Make(r.planInput(entry.gateway)); d.err == nil {
		objects := fluxobjects.Make(d.plan, r.options.Naming)
		d.objects = []Object{sourceObject(objects.Source), releaseObject(objects.Release)}
	}
	return d
}

// add takes a gateway's objects into the output.
func (r *rendering) add(d draft) {
	if d.entry.faulty {
		return
	}
	g := d.entry.gateway
	name := fmt.Sprintf("%s %s/%s", v1alpha1.APIGatewayKind, g.Namespace, g.Name)
	switch {
	case errors.Is(d.err, plan.ErrOtherController):
		r.note(name, d.err)
	case d.err != nil:
		r.refuse(g, name, d.err)
	case r.claim(name, d.plan):
		for _, object := range d.objects {
			r.take(name, object)
		}
	}
}

func (r *rendering) planInput(g *v1alpha1.APIGateway) plan.Input {
	in := plan.Input{
		Gateway: g, Classes: r.set.classes, Readings: r.readings,
		ControllerName: r.options.ControllerName, Environment: r.options.Environment,
	}
	if ref := g.Spec.ConfigRef; ref != nil {
		in.Config = r.set.configs[types.NamespacedName{Namespace: g.Namespace, Name: ref.Name}]
	}
	return in
}

// claim refuses a gateway whose Helm release another one of the input has. In a cluster the older one would keep it; here
// nothing says which that is.
func (r *rendering) claim(name string, p *plan.Plan) bool {
	for _, key := range claims.Keys(p) {
		holder, taken := r.claimed[key]
		if taken {
			at := r.set.origins[holder]
			r.problem(name, "spec.release.name", v1alpha1.ReasonConflict,
				fmt.Sprintf("%s is wanted by %s (%s) too; give one of them another spec.release.name", key, holder, at.position()))
			return false
		}
	}
	for _, key := range claims.Keys(p) {
		r.claimed[key] = name
	}
	return true
}

// take puts an object into the output, once. Gateways may share a source, but only one and the same.
func (r *rendering) take(gateway string, object Object) {
	key := object.String()
	first, taken := r.made[key]
	if !taken {
		r.made[key] = made{object: object, gateway: gateway}
		return
	}
	if !reflect.DeepEqual(first.object, object) {
		r.problem(gateway, "", v1alpha1.ReasonConflict,
			fmt.Sprintf("needs another %s than %s; with --share-sources it is named after the class instead", key, first.gateway))
	}
}

func (r *rendering) note(gateway string, err error) {
	at := r.set.origins[gateway]
	r.notes = append(r.notes, Problem{
		File: at.file, Line: at.line, Object: gateway, APIVersion: v1alpha1.GroupVersion.String(), Message: "skipped: " + err.Error(),
	})
}

func (r *rendering) problem(object, field, reason, message string) {
	r.tell(Problem{Object: object, APIVersion: v1alpha1.GroupVersion.String(), Field: field, Message: message, Reason: reason})
}

// tell reports a problem once, though every gateway of a class may meet it. Its line is looked for at the end.
func (r *rendering) tell(p Problem) {
	p.File = r.set.origins[p.Object].file
	if !r.told[p] {
		r.told[p] = true
		r.problems = append(r.problems, p)
	}
}

// refuse reports why a gateway has no plan. A fault of its class stands with the class, once, and one of its ConfigMap's text with
// the ConfigMap.
func (r *rendering) refuse(g *v1alpha1.APIGateway, name string, err error) {
	var refused *plan.Error
	if !errors.As(err, &refused) {
		r.problem(name, "", "", err.Error())
		return
	}
	for _, f := range refused.Faults {
		if f.InConfig != "" {
			r.tell(Problem{
				Object: configMapKind + " " + g.Namespace + "/" + g.Spec.ConfigRef.Name, APIVersion: "v1", Field: ConfigField,
				Message: f.InConfig, Reason: f.Reason, TextLine: f.ConfigLine,
			})
			continue
		}
		object, field := name, f.Field
		if rest, ofClass := strings.CutPrefix(f.Field, v1alpha1.APIGatewayClassKind+"/"); ofClass {
			class, within, _ := strings.Cut(rest, " ")
			object, field = v1alpha1.APIGatewayClassKind+" "+class, within
		}
		r.tell(Problem{
			Object: object, APIVersion: v1alpha1.GroupVersion.String(), Field: field, Message: f.Message + r.set.advice(g, f.Reason),
			Reason: f.Reason, unbuilt: f.Reason == v1alpha1.ReasonClassNotFound || f.Reason == v1alpha1.ReasonConfigNotFound,
		})
	}
}

func (r *rendering) result() Result {
	r.set.locate(r.problems)
	problems := slices.Concat(r.problems, r.set.problems)
	r.set.adviseBuilding(problems)
	result := Result{Notes: slices.Concat(r.set.notes, r.notes), Problems: sortProblems(problems)}
	for _, m := range r.made {
		result.Objects = append(result.Objects, m.object)
	}
	slices.SortFunc(result.Objects, Object.compare)
	if len(result.Objects) == 0 && len(result.Problems) == 0 {
		result.Problems = []Problem{r.nothing()}
	}
	return result
}

// nothing is an error: who applies what is printed would delete what the time before installed.
func (r *rendering) nothing() Problem {
	if len(r.set.gateways) == 0 {
		return Problem{Message: "there is no APIGateway in the input"}
	}
	served := map[string]bool{}
	for i := range r.set.classes {
		served[plan.ControllerOf(&r.set.classes[i])] = true
	}
	return Problem{Message: fmt.Sprintf("no APIGateway of the input is served by %s; the classes of the input are served by: %s",
		cmp.Or(r.options.ControllerName, v1alpha1.DefaultControllerName), strings.Join(slices.Sorted(maps.Keys(served)), ", "))}
}

// sortProblems puts them in the order of the files, each once.
func sortProblems(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.String(), b.String()))
	})
	return slices.Compact(problems)
}
