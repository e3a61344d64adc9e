// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// Options say what the old resources do not.
type Options struct {
	// WSO2Class and OpenShellClass name the classes of the gateways; they must be in the input.
	WSO2Class, OpenShellClass string
	// OperatorValues are what WSO2's operator gave every gateway, of the file so named; nil where that is not known.
	OperatorValues *OperatorValues
	// ReleaseNames are Helm releases by gateway, where they are not named by rule.
	ReleaseNames map[types.NamespacedName]string
	// Environment is the cluster's, as far as known.
	Environment plan.Environment
}

// Result is what came of the old resources.
type Result struct {
	// Objects are the classes and the gateways, to be applied in this order.
	Objects []render.Object
	// Warnings name the fields that were not moved as they were, and why.
	Warnings []render.Problem
	// Problems are errors; with any, Objects are incomplete.
	Problems []render.Problem
	gateways []*gateway
}

// Run migrates the old gateways among the objects read. The classes and the ConfigMaps that they need are among them too.
func Run(reader *render.Reader, options Options) Result {
	m := &migration{
		options: options,
		classes: map[string]*v1alpha1.APIGatewayClass{},
		configs: map[types.NamespacedName]*corev1.ConfigMap{},
		secrets: map[types.NamespacedName][]*corev1.Secret{},
		taken:   map[string]render.Problem{},
		named:   map[types.NamespacedName]bool{},
	}
	m.problems = append(m.problems, reader.Problems()...)
	m.read(reader.Inputs())
	m.convert()
	return m.result()
}

type migration struct {
	options   Options
	wso2      []render.Input
	openshell []render.Input
	classes   map[string]*v1alpha1.APIGatewayClass
	configs   map[types.NamespacedName]*corev1.ConfigMap
	// secrets are Helm's, by the release that they store a revision of.
	secrets  map[types.NamespacedName][]*corev1.Secret
	gateways []*gateway
	// named are the gateways in the input whose name could be read.
	named map[types.NamespacedName]bool
	// merged says that the class has the operator's values.
	merged bool
	// taken are the names of the gateways made, and of their releases, with what took them.
	taken    map[string]render.Problem
	warnings []render.Problem
	problems []render.Problem
}

// read sorts the objects by what they are. Kinds of which neither old operator knows are passed over.
func (m *migration) read(inputs []render.Input) {
	for _, in := range inputs {
		group, _, _ := strings.Cut(in.APIVersion, "/")
		switch {
		case group == WSO2Group:
			m.addWSO2(in)
		case in.Kind == hyperShellKind && (in.APIVersion == "" || strings.HasPrefix(group, "hypershell.")):
			m.openshell = append(m.openshell, in)
		case in.APIVersion == v1alpha1.GroupVersion.String() && in.Kind == v1alpha1.APIGatewayClassKind:
			class := &v1alpha1.APIGatewayClass{}
			m.problems = append(m.problems, in.Decode(class)...)
			m.classes[class.Name] = class
			m.take(in, "", "APIGatewayClass "+class.Name, "is in the input twice")
		case in.APIVersion == "v1" && in.Kind == "ConfigMap":
			config := &corev1.ConfigMap{}
			m.problems = append(m.problems, in.DecodeKnown(config)...)
			m.configs[types.NamespacedName{Namespace: config.Namespace, Name: config.Name}] = config
			m.take(in, "", "ConfigMap "+config.Namespace+"/"+config.Name, "is in the input twice")
		case in.APIVersion == "v1" && in.Kind == secretKind:
			m.addSecret(in)
		}
	}
}

// addSecret keeps the Secrets that Helm stores releases in.
func (m *migration) addSecret(in render.Input) {
	secret := &corev1.Secret{}
	m.problems = append(m.problems, in.DecodeKnown(secret)...)
	if secret.Type == helmSecretType {
		release := types.NamespacedName{Namespace: secret.Namespace, Name: secret.Labels["name"]}
		m.secrets[release] = append(m.secrets[release], secret)
	}
}

// take claims a name for an object; one that has it already is a problem, which names both.
func (m *migration) take(in render.Input, field, name, complaint string) {
	mine := in.Problem(field, complaint)
	if first, taken := m.taken[name]; taken {
		if first.Line > 0 {
			mine.Message += fmt.Sprintf("; the other one is at %s:%d", first.File, first.Line)
		}
		m.problems = append(m.problems, mine)
		return
	}
	m.taken[name] = mine
}

func (m *migration) convert() {
	if len(m.wso2) > 0 && m.options.OperatorValues == nil {
		m.warnings = append(m.warnings, render.Problem{Message: "--operator-values is missing: what the old operator gave every gateway " +
			"is not known, and not moved; its file is gateway.values of its chart, or the ConfigMap that it mounts"})
	}
	for _, in := range m.wso2 {
		m.convertWSO2(in)
	}
	if len(m.wso2) == 0 && m.options.OperatorValues != nil {
		m.warnings = append(m.warnings, render.Problem{
			Message: "--operator-values is passed over: no gateway of WSO2's operator is in the input"})
	}
	for _, in := range m.openshell {
		m.convertHyperShell(in)
	}
	m.checkReleaseNames()
	if len(m.wso2)+len(m.openshell)+len(m.problems) == 0 {
		m.problems = append(m.problems, render.Problem{Message: "there is nothing to migrate in the input: neither an APIGateway of " +
			WSO2Group + " nor a Gateway of HyperShell"})
	}
}

// checkReleaseNames refuses names for gateways that there are not.
func (m *migration) checkReleaseNames() {
	for name, release := range m.options.ReleaseNames {
		if !m.named[name] {
			m.problems = append(m.problems, render.Problem{
				Message: fmt.Sprintf("--release-name %s=%s: no gateway of that name is in the input", name, release)})
		}
	}
	slices.SortFunc(m.problems, func(a, b render.Problem) int { return cmp.Or(comparePlaces(a, b), cmp.Compare(a.Message, b.Message)) })
}

// class finds the class of a gateway, with the operator's values where they belong to it.
func (m *migration) class(in render.Input, name, flag string) *v1alpha1.APIGatewayClass {
	class := m.classes[name]
	if class == nil {
		m.problems = append(m.problems, in.Problem("", "its class "+name+" is not in the input: pass flux/classes/"+name+
			".yaml, or your own, with -f; "+flag+" names another"))
	}
	return class
}

func (m *migration) result() Result {
	result := Result{Warnings: m.warnings, Problems: m.problems, gateways: m.gateways}
	slices.SortStableFunc(result.Problems, comparePlaces)
	slices.SortStableFunc(result.Warnings, comparePlaces)
	slices.SortFunc(m.gateways, func(a, b *gateway) int {
		return cmp.Or(cmp.Compare(a.name.Namespace, b.name.Namespace), cmp.Compare(a.name.Name, b.name.Name))
	})
	printed := map[string]bool{}
	for _, g := range m.gateways {
		if !printed[g.class.Name] {
			printed[g.class.Name] = true
			result.Objects = append(result.Objects, printedClass(g.class))
		}
	}
	slices.SortFunc(result.Objects, func(a, b render.Object) int { return cmp.Compare(a.Name, b.Name) })
	for _, g := range m.gateways {
		result.Objects = append(result.Objects, g.printed())
	}
	return result
}

func comparePlaces(a, b render.Problem) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}
