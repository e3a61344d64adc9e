// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/spelling"
)

// annotationsOf are the annotations of Sluice's group that it reads of each kind. It reads no label of its group.
var annotationsOf = map[string][]string{
	v1alpha1.APIGatewayKind:      {v1alpha1.AnnotationAdopt},
	v1alpha1.APIGatewayClassKind: {v1alpha1.AnnotationDefaultClass},
}

// marks finds annotations and labels that were meant for Sluice, and that it would pass over.
func (l *linter) marks() {
	for g := range l.Set.Gateways() {
		l.marksOf(gatewayName(g), v1alpha1.APIGatewayKind, g.ObjectMeta)
	}
	for i := range l.all {
		l.marksOf(className(l.all[i].Name), v1alpha1.APIGatewayClassKind, l.all[i].ObjectMeta)
	}
}

func (l *linter) marksOf(object, kind string, meta metav1.ObjectMeta) {
	for _, key := range slices.Sorted(maps.Keys(meta.Annotations)) {
		if isOfGroup(key) && !slices.Contains(annotationsOf[kind], key) {
			l.add(Warning, RuleUnknownMark, object, "metadata.annotations["+key+"]", unknownMark(key, kind, "annotation", "did you mean %s?"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(meta.Labels)) {
		if isOfGroup(key) {
			l.add(Warning, RuleUnknownMark, object, "metadata.labels["+key+"]", unknownMark(key, kind, "label", "did you mean the annotation %s?"))
		}
	}
}

// isOfGroup says whether the key's prefix is Sluice's group, or nearly so.
func isOfGroup(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	return found && spelling.Nearest(prefix, []string{v1alpha1.GroupVersion.Group}, 2) != ""
}

func unknownMark(key, kind, what, question string) string {
	_, name, _ := strings.Cut(key, "/")
	message := fmt.Sprintf("is no %s that Sluice reads of an %s; ", what, kind)
	if near := spelling.Nearest(key, annotationsOf[kind], max(2, len(name)/3)); near != "" {
		return message + fmt.Sprintf(question, near)
	}
	return message + "it reads the annotation " + strings.Join(annotationsOf[kind], ", ")
}
