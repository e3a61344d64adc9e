// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// leaves are the dotted names of a type's leaves: scalars, maps, lists of anything but structures of ours and of Flux, and
// structures of others, such as Kubernetes' affinity.
func leaves(typ reflect.Type, name string) []string {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Slice && ours(typ.Elem()) {
		return leaves(typ.Elem(), name+"[]")
	}
	if !ours(typ) {
		return []string{name}
	}
	var all []string
	for i := range typ.NumField() {
		field := typ.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if strings.Contains(options, "inline") {
			all = append(all, leaves(field.Type, name)...)
			continue
		}
		all = append(all, leaves(field.Type, name+"."+tag)...)
	}
	return all
}

func ours(typ reflect.Type) bool {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ.Kind() == reflect.Struct &&
		(typ.PkgPath() == reflect.TypeFor[v1alpha1.APIGateway]().PkgPath() || strings.HasPrefix(typ.PkgPath(), "github.com/fluxcd/"))
}

func TestTheWalkSeesTheAPI(t *testing.T) {
	require.Equal(t, []string{
		"spec.infrastructure.replicas", "spec.infrastructure.images", "spec.infrastructure.resources", "spec.infrastructure.nodeSelector",
		"spec.infrastructure.tolerations", "spec.infrastructure.affinity", "spec.infrastructure.labels", "spec.infrastructure.annotations",
	}, leaves(reflect.TypeFor[v1alpha1.Infrastructure](), "spec.infrastructure"))
	require.Equal(t, []string{"x[].name", "x[].paths[].registry", "x[].paths[].repository", "x[].paths[].tag", "x[].paths[].digest"},
		leaves(reflect.TypeFor[[]v1alpha1.ImageMapping](), "x"))
	for _, foreign := range []reflect.Type{
		reflect.TypeFor[metav1.Duration](), reflect.TypeFor[apiextensionsv1.JSON](), reflect.TypeFor[corev1.Affinity](),
	} {
		require.Equal(t, []string{"x"}, leaves(foreign, "x"))
	}
}
