// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// words are what people, templates and machines write where a string is wanted.
var words = []string{
	"", "a", "fuzz", "web", "A", "a b", "a/b", "a.b", "-a", "a-", "a_b", "ä", "😀", "a\nb", " ", "null", "true", "0", "*", "a*", "(", "[0]", "a[1].b", `a\.b`,
	"1.2.3", "1.2.3_build", "1.x", ">=1.2.0 <2.0.0", "latest", "sha256:" + strings.Repeat("0a", 32), "sha256:0",
	"oci://registry.example.com/charts/gateway", "https://example.com", "registry.example.com:5000/a/b:1@sha256:" + strings.Repeat("0a", 32),
	"/spec/replicas", "spec.replicas", "app=web", "a in (b)", "=", "{{ .Release.Name }}", "apps/v1", "v1", "Deployment", "ConfigMap", "Secret",
	"cosign", "notation", "generic", "enabled", "CreateReplace", "Rollback", "Retry", "Orphan", "route", "auto", "gateway-api",
	"infrastructure.replicas", "storage.type", "metadata.name", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "- {op: remove, path: /a}",
	strings.Repeat("a", 53), strings.Repeat("a", 54), strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254), strings.Repeat("a", 3000),
}

var documents = []string{`{}`, `null`, `{"a":1}`, `{"a":{"b":[null,{"c":"d"}]}}`, `{"a":12345678901234567890}`, `{"":{"é":1.5}}`, `{"a":1e3,"b":-0.0}`, `[]`, `"a"`}

var durations = []time.Duration{0, -time.Second, time.Nanosecond, time.Millisecond, 1500 * time.Microsecond, time.Second, 90 * time.Second, time.Hour, 10000 * time.Hour}

// maker fills structures with what it picks. One in rarity of the fields that may be left out is set: with few of them much
// of what comes out is sound, with many of them they meet.
type maker struct {
	*rand.Rand
	rarity int
}

func newMaker(seed uint64) maker {
	m := maker{Rand: rand.New(rand.NewPCG(seed, seed))}
	m.rarity = pick(m, []int{4, 10, 25, 60})
	return m
}

func pick[T any](m maker, from []T) T { return from[m.IntN(len(from))] }

func (m maker) fill(v reflect.Value) {
	switch v.Interface().(type) {
	case apiextensionsv1.JSON:
		v.Set(reflect.ValueOf(apiextensionsv1.JSON{Raw: []byte(pick(m, documents))}))
		return
	case metav1.Duration:
		v.Set(reflect.ValueOf(metav1.Duration{Duration: pick(m, durations)}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if m.IntN(m.rarity) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			m.fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				m.fill(v.Field(i))
			}
		}
	case reflect.Slice:
		m.fillSlice(v)
	case reflect.Map:
		m.fillMap(v)
	case reflect.String:
		v.SetString(pick(m, words))
	case reflect.Bool:
		v.SetBool(m.IntN(2) == 0)
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(pick(m, []int64{0, 1, 2, 5, -1, 101, 1<<31 - 1}))
	}
}

func (m maker) fillSlice(v reflect.Value) {
	if m.IntN(m.rarity) > 0 {
		return
	}
	for range 1 + m.IntN(2) {
		element := reflect.New(v.Type().Elem()).Elem()
		m.fill(element)
		v.Set(reflect.Append(v, element))
	}
}

func (m maker) fillMap(v reflect.Value) {
	if m.IntN(m.rarity) > 0 || v.Type().Key().Kind() != reflect.String {
		return
	}
	element := reflect.New(v.Type().Elem()).Elem()
	m.fill(element)
	v.Set(reflect.MakeMap(v.Type()))
	v.SetMapIndex(reflect.ValueOf(pick(m, words)).Convert(v.Type().Key()), element)
}

// class is one that may be sound: it has a chart.
func (m maker) class() v1alpha1.APIGatewayClass {
	class := v1alpha1.APIGatewayClass{}
	m.fill(reflect.ValueOf(&class.Spec).Elem())
	class.Name = m.mostly("plain")
	class.Spec.ControllerName = nil
	class.Spec.Chart.URL = m.mostly("oci://registry.example.com/charts/gateway")
	if verify := class.Spec.Chart.Verify; verify != nil && verify.Provider == "" {
		verify.Provider = "cosign" // our types cannot leave it out, which stands for this
	}
	if m.IntN(8) > 0 {
		tag := "1.2.3"
		class.Spec.Chart.Ref = v1alpha1.ChartRef{ChartVersion: v1alpha1.ChartVersion{Tag: &tag}}
	}
	class.Spec.Policy = &v1alpha1.ClassPolicy{AllowedTargetNamespaces: []string{"*"}, AllowRemoteClusters: true, AllowAdoption: true}
	if m.IntN(2) == 0 {
		account := m.mostly("flux")
		class.Spec.Release = &v1alpha1.ReleaseSettings{ServiceAccountName: &account}
		class.Spec.Policy.AllowPatches = true
	} else {
		class.Spec.Policy.AllowServiceAccountOverride = true
	}
	return class
}

// gateway of that class, with fewer of the fields that only a class could allow.
func (m maker) gateway(class string) *v1alpha1.APIGateway {
	gateway := &v1alpha1.APIGateway{}
	m.fill(reflect.ValueOf(&gateway.Spec).Elem())
	gateway.Namespace, gateway.Name = "fuzz", m.mostly("web")
	gateway.Spec.ClassName = &class
	gateway.Spec.ConfigRef = nil
	if m.IntN(3) > 0 {
		gateway.Spec.Infrastructure, gateway.Spec.ControlPlane, gateway.Spec.Storage = nil, nil, nil
		gateway.Spec.Exposure, gateway.Spec.TrustedCARef = nil, nil
	}
	if m.IntN(4) == 0 {
		gateway.Labels = map[string]string{v1alpha1.LabelShard: pick(m, words)}
	}
	return gateway
}

func (m maker) mostly(word string) string {
	if m.IntN(10) > 0 {
		return word
	}
	return pick(m, words)
}
