// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"errors"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// whatRuns is what conflicts are with, in the words of a warning.
const whatRuns = "what the old operator installed"

// fit leaves out the fields that the class does not take, and those that would change what runs: the old operator passed
// most of its typed fields over, so that a value installed otherwise is the one that counts. It warns of each, and of
// those that act from now on. What else the plan refuses is a problem.
func (g *gateway) fit(env plan.Environment) {
	for again := true; again; {
		again = false
		for _, f := range g.plan(env, g.acted) {
			if why := leftOut(f); why != "" && g.present(f.Field) {
				g.drop(f.Field)
				g.warning(g.oldField(f.Field), "is not moved: "+why)
				again = true
			}
		}
	}
	g.warnOfNewEffects()
}

// leftOut says why a field stays behind; empty where that is no remedy.
func leftOut(f plan.Fault) string {
	switch {
	case !strings.HasPrefix(f.Field, "spec.") || f.Field == "spec.values" || strings.HasPrefix(f.Field, "spec.release."):
		return ""
	case f.Reason == v1alpha1.ReasonFieldConflict:
		message, _, _ := strings.Cut(f.Message, "; remove one")
		message = strings.Replace(message, "but spec.values sets", "but "+whatRuns+" sets", 1)
		return "it " + message
	case f.Reason == v1alpha1.ReasonUnmappedField:
		message, _, _ := strings.Cut(f.Message, "; remove it")
		return message
	case strings.Contains(f.Message, " does not allow "):
		return f.Message
	}
	return ""
}

// oldField is the old one that a new field came from; a field's leaves come from the leaves.
func (g *gateway) oldField(field string) string {
	for at, rest := field, ""; at != ""; {
		if old, known := g.from[at]; known {
			return old + rest
		}
		i := strings.LastIndex(at, ".")
		if i < 0 {
			break
		}
		rest = at[i:] + rest
		at = at[:i]
	}
	return field
}

// check is the plan of the gateway as it is printed. Its faults are problems of the old object.
func (g *gateway) check(env plan.Environment) []render.Problem {
	var problems []render.Problem
	for _, f := range g.plan(env, nil) {
		if f.Reason == v1alpha1.ReasonCapabilityUnknown || g.configMissing && f.Reason == v1alpha1.ReasonConfigNotFound {
			continue // the cluster will tell
		}
		if strings.HasPrefix(f.Field, v1alpha1.APIGatewayClassKind+"/") {
			problems = append(problems, render.Problem{Object: f.Field, Message: f.Message, Reason: f.Reason})
			continue
		}
		p := g.in.Problem(g.oldField(f.Field), f.Message)
		p.Reason = f.Reason
		problems = append(problems, p)
	}
	return problems
}

// plan says what the operator would refuse; with values these are spec.values, and there is no configRef.
func (g *gateway) plan(env plan.Environment, values map[string]any) []plan.Fault {
	typed, err := g.typed()
	if err != nil {
		return []plan.Fault{{Reason: v1alpha1.ReasonInvalidSpec, Field: "spec", Message: err.Error()}}
	}
	if values != nil {
		typed.Spec.Values, typed.Spec.ConfigRef = &apiextensionsv1.JSON{Raw: encode(values)}, nil
	}
	_, err = plan.Make(plan.Input{
		Gateway: typed, Classes: []v1alpha1.APIGatewayClass{*g.class}, Config: g.config,
		ControllerName: deref(g.class.Spec.ControllerName), Environment: env,
	})
	var refused *plan.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused.Faults
	}
	return []plan.Fault{{Field: "spec.className", Message: err.Error()}}
}

// warnOfNewEffects names the fields that the old operator passed over, and that act from now on.
func (g *gateway) warnOfNewEffects() {
	for _, field := range slices.Sorted(maps.Keys(g.passedOver)) {
		paths := g.pathsOf(field)
		if len(paths) == 0 || !g.present(field) || slices.ContainsFunc(paths, func(p plan.Path) bool { return holds(g.acted, p) }) {
			continue
		}
		var texts []string
		for _, p := range paths {
			texts = append(texts, p.String())
		}
		g.warning(g.passedOver[field], "acts from now on, at "+strings.Join(texts, " and ")+": the old operator passed it over; remove it from "+
			field+" to leave what runs as it is")
	}
}

// pathsOf are the values paths that the class gives a field.
func (g *gateway) pathsOf(field string) []plan.Path {
	var texts []string
	name := strings.TrimPrefix(field, "spec.")
	for _, m := range g.class.Spec.ValueMappings {
		if m.Field == name {
			texts = append(texts, m.Paths...)
		}
	}
	if image, isImage := strings.CutPrefix(name, "infrastructure.images."); isImage {
		for _, m := range g.class.Spec.ImageMappings {
			for _, p := range m.Paths {
				if m.Name == image {
					texts = append(texts, deref(p.Repository))
				}
			}
		}
	}
	var paths []plan.Path
	for _, text := range texts {
		if path, err := plan.ParsePath(text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

func (g *gateway) present(field string) bool {
	var node any = g.spec
	for _, key := range strings.Split(strings.TrimPrefix(field, "spec."), ".") {
		inner, _ := node.(map[string]any)
		node = inner[key]
	}
	return node != nil
}

// holds says whether values have something at a path.
func holds(values map[string]any, path plan.Path) bool {
	_, found := valueAt(values, path)
	return found
}

func valueAt(values any, path plan.Path) (any, bool) {
	for _, step := range path {
		node, isMap := values.(map[string]any)
		if !isMap || step.IsIndex {
			return nil, false
		}
		next, found := node[step.Key]
		if !found {
			return nil, false
		}
		values = next
	}
	return values, true
}

func deref[T any](pointer *T) T {
	if pointer == nil {
		return *new(T)
	}
	return *pointer
}
