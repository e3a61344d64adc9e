// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"errors"
	"fmt"
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
	r := rendering{set: s, options: options, claimed: map[claims.Key]string{}, made: map[string]made{}}
	r.problems = slices.Clone(s.problems)
	if !s.unread {
		for _, name := range s.gatewayNames() {
			r.add(s.gateways[name])
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
	// claimed says which gateway has a Helm release's name.
	claimed  map[claims.Key]string
	made     map[string]made
	notes    []Problem
	problems []Problem
}

// made is an object of the output and the gateway that it was made for.
type made struct {
	object  Object
	gateway string
}

// add plans a gateway and takes its objects into the output.
func (r *rendering) add(entry *gatewayEntry) {
	if entry.faulty {
		return
	}
	g := entry.gateway
	name := fmt.Sprintf("%s %s/%s", v1alpha1.APIGatewayKind, g.Namespace, g.Name)
	p, err := plan.Make(r.set.planInput(g, r.options.ControllerName))
	if errors.Is(err, plan.ErrOtherController) {
		r.note(name, err)
		return
	}
	if err != nil {
		r.refuse(entry.gateway, name, err)
		return
	}
	if !r.claim(name, p) {
		return
	}
	objects := fluxobjects.Make(p, r.options.Naming)
	r.take(name, objects.Source)
	r.take(name, objects.Release)
}

func (s *Set) planInput(g *v1alpha1.APIGateway, controllerName string) plan.Input {
	in := plan.Input{Gateway: g, Classes: s.classes, ControllerName: controllerName}
	if ref := g.Spec.ConfigRef; ref != nil {
		in.Config = s.configs[types.NamespacedName{Namespace: g.Namespace, Name: ref.Name}]
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
				fmt.Sprintf("%s is wanted by %s (%s:%d) too; give one of them another spec.release.name", key, holder, at.file, at.line))
			return false
		}
	}
	for _, key := range claims.Keys(p) {
		r.claimed[key] = name
	}
	return true
}

// take puts an object into the output, once. Gateways may share a source, but only one and the same.
func (r *rendering) take(gateway string, object fluxObject) {
	printed, err := newObject(object)
	if err != nil {
		r.problem(gateway, "", "", err.Error())
		return
	}
	key := printed.String()
	first, taken := r.made[key]
	if !taken {
		r.made[key] = made{object: printed, gateway: gateway}
		return
	}
	if string(first.object.JSON) != string(printed.JSON) {
		r.problem(gateway, "", v1alpha1.ReasonConflict,
			fmt.Sprintf("needs another %s than %s; with --share-sources it is named after the class instead", key, first.gateway))
	}
}

func (r *rendering) note(gateway string, err error) {
	at := r.set.origins[gateway]
	r.notes = append(r.notes, Problem{File: at.file, Line: at.line, Object: gateway, Message: "skipped: " + err.Error()})
}

func (r *rendering) problem(object, field, reason, message string) {
	at := r.set.origins[object]
	r.problems = append(r.problems, Problem{
		File: at.file, Line: at.lineOf(field), Object: object, Field: field, Message: message, Reason: reason,
	})
}

// refuse reports why a gateway has no plan. A fault of its class stands with the class, once.
func (r *rendering) refuse(g *v1alpha1.APIGateway, name string, err error) {
	var refused *plan.Error
	if !errors.As(err, &refused) {
		r.problem(name, "", "", err.Error())
		return
	}
	for _, f := range refused.Faults {
		object, field := name, f.Field
		if rest, ofClass := strings.CutPrefix(f.Field, v1alpha1.APIGatewayClassKind+"/"); ofClass {
			class, within, _ := strings.Cut(rest, " ")
			object, field = v1alpha1.APIGatewayClassKind+" "+class, within
		}
		r.problem(object, field, f.Reason, f.Message+r.set.advice(g, f.Reason))
	}
}

func (r *rendering) result() Result {
	result := Result{Notes: r.notes, Problems: sortProblems(r.problems)}
	if len(r.set.gateways) == 0 && len(result.Problems) == 0 {
		result.Notes = append(result.Notes, Problem{Message: "there is no APIGateway in the input"})
	}
	for _, m := range r.made {
		result.Objects = append(result.Objects, m.object)
	}
	slices.SortFunc(result.Objects, Object.compare)
	return result
}

// sortProblems puts them in the order of the files, each once.
func sortProblems(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.String(), b.String()))
	})
	return slices.Compact(problems)
}
