// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// isDefault is how messages write the annotation of the default class.
const isDefault = v1alpha1.AnnotationDefaultClass + ": \"true\""

// findClass finds the class that serves the gateway: the one it names, else the one that serves it already, else the
// default. It is nil where there is none, and then the fault says why.
func findClass(in Input, wrong *faults) *v1alpha1.APIGatewayClass {
	if name := text("", in.Gateway.Spec.ClassName); name != "" {
		return namedClass(in.Classes, name, wrong)
	}
	if kept := keptClass(in.Gateway); kept != "" {
		if class := lookup(in.Classes, kept); class != nil {
			return class
		}
		if hasRelease(in.Gateway) {
			wrong.add(v1alpha1.ReasonClassNotFound, "spec.className",
				"the APIGatewayClass %s, which this gateway runs on, is gone; create it again, or name one of: %s",
				kept, listed(names(in.Classes)))
			return nil
		}
	}
	return defaultClass(in.Classes, wrong)
}

func namedClass(classes []v1alpha1.APIGatewayClass, name string, wrong *faults) *v1alpha1.APIGatewayClass {
	class := lookup(classes, name)
	switch {
	case class != nil:
	case len(classes) == 0:
		wrong.add(v1alpha1.ReasonClassNotFound, "spec.className", "there is no APIGatewayClass %s, nor any other; create it", name)
	default:
		wrong.add(v1alpha1.ReasonClassNotFound, "spec.className",
			"there is no APIGatewayClass %s; name one of: %s", name, listed(names(classes)))
	}
	return class
}

// keptClass is the class that serves the gateway already, which it keeps when the default moves: a running gateway must
// not change its chart because somebody annotated another class. A class that never had the gateway accepted is not kept.
func keptClass(gateway *v1alpha1.APIGateway) string {
	if meta.IsStatusConditionTrue(gateway.Status.Conditions, v1alpha1.ConditionAccepted) || hasRelease(gateway) {
		return gateway.Status.ClassName
	}
	return ""
}

func hasRelease(gateway *v1alpha1.APIGateway) bool {
	return gateway.Status.Release != nil
}

func defaultClass(classes []v1alpha1.APIGatewayClass, wrong *faults) *v1alpha1.APIGatewayClass {
	var defaults []string
	for i := range classes {
		if classes[i].Annotations[v1alpha1.AnnotationDefaultClass] == "true" {
			defaults = append(defaults, classes[i].Name)
		}
	}
	slices.Sort(defaults)
	switch {
	case len(defaults) == 1:
		return lookup(classes, defaults[0])
	case len(classes) == 0:
		wrong.add(v1alpha1.ReasonClassNotFound, "spec.className", "no class is named and there is no APIGatewayClass; create one")
	case len(defaults) == 0:
		wrong.add(v1alpha1.ReasonClassNotFound, "spec.className",
			"no class is named and no APIGatewayClass carries the annotation %s; name one of: %s",
			isDefault, listed(names(classes)))
	default:
		wrong.add(v1alpha1.ReasonClassNotFound, "spec.className",
			"no class is named and %d APIGatewayClasses carry the annotation %s; name one of: %s",
			len(defaults), isDefault, listed(defaults))
	}
	return nil
}

func lookup(classes []v1alpha1.APIGatewayClass, name string) *v1alpha1.APIGatewayClass {
	for i := range classes {
		if classes[i].Name == name {
			return &classes[i]
		}
	}
	return nil
}

func names(classes []v1alpha1.APIGatewayClass) []string {
	all := make([]string, len(classes))
	for i := range classes {
		all[i] = classes[i].Name
	}
	slices.Sort(all)
	return all
}

// servedBy says whether a class is this operator's.
func servedBy(class *v1alpha1.APIGatewayClass, controllerName string) bool {
	return ControllerOf(class) == text(v1alpha1.DefaultControllerName, &controllerName)
}

// ControllerOf is the name of the operator whose a class is.
func ControllerOf(class *v1alpha1.APIGatewayClass) string {
	return text(v1alpha1.DefaultControllerName, class.Spec.ControllerName)
}
