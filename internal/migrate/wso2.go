// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// addWSO2 keeps the gateways. What else is of the group configures what runs on a gateway.
func (m *migration) addWSO2(in render.Input) {
	_, version, _ := strings.Cut(in.APIVersion, "/")
	switch {
	case in.Kind == "Gateway":
		m.problems = append(m.problems, in.Problem("kind", "Gateway is what early versions of the old operator called an APIGateway; their "+
			"releases are named <gateway>-gateway: write APIGateway, and pass --release-name NAMESPACE/GATEWAY=RELEASE"))
	case in.Kind != WSO2Kind:
		m.warnings = append(m.warnings, in.Problem("", "is not moved: it is no gateway but configures one, which Sluice leaves to the "+
			"gateway's own management API"))
	case version != "v1" && version != "v1alpha1":
		m.problems = append(m.problems, in.Problem("apiVersion", in.APIVersion+" is not known; v1 and v1alpha1 are"))
	default:
		m.wso2 = append(m.wso2, in)
	}
}

func (m *migration) convertWSO2(in render.Input) {
	old := wso2Gateway{}
	if faults := in.Decode(&old); len(faults) > 0 {
		m.problems = append(m.problems, faults...)
		return
	}
	class := m.wso2Class(in)
	if class == nil || !m.checkNames(in, old.Name, old.Namespace) {
		return
	}
	g := m.newGateway(in, types.NamespacedName{Namespace: old.Namespace, Name: old.Name}, class)
	if old.DeletionTimestamp != nil {
		m.problems = append(m.problems, in.Problem("metadata.deletionTimestamp", "is set: the old operator uninstalls its release as soon as it "+
			"can; leave the gateway out, or stop that operator first and pass the gateway without this field"))
		return
	}
	g.moveMarks(old.Labels, old.Annotations)
	g.moveOwners(old.OwnerReferences, old.Finalizers)
	if ref := old.Spec.ConfigRef; ref != nil && ref.Name != "" {
		g.config = m.configs[types.NamespacedName{Namespace: old.Namespace, Name: ref.Name}]
		g.configMissing = g.config == nil
	}
	g.acted = m.wso2Values(g, old.Spec)
	g.moveWSO2(old.Spec)
	m.nameRelease(g, wso2ReleaseName)
	g.fit(m.options.Environment)
	m.finish(g)
}

// wso2Class is the class with the operator's values in it, below what gateways say: they were every gateway's.
func (m *migration) wso2Class(in render.Input) *v1alpha1.APIGatewayClass {
	class := m.class(in, m.options.WSO2Class, "--wso2-class")
	if class == nil || m.options.OperatorValues == nil || m.merged {
		return class
	}
	m.merged = true
	values := map[string]any{}
	if class.Spec.Values != nil {
		own, problems := plan.ReadValues(class.Spec.Values.Raw)
		for _, text := range problems {
			m.problems = append(m.problems, render.Problem{Object: v1alpha1.APIGatewayClassKind + " " + class.Name, Field: "spec.values", Message: text})
		}
		values = own
	}
	merged := plan.MergeValues(values, m.options.OperatorValues.Values)
	if len(merged) > 0 {
		class.Spec.Values = &apiextensionsv1.JSON{Raw: encode(merged)}
	}
	m.warnings = append(m.warnings, m.options.OperatorValues.Warnings...)
	return class
}

// wso2Values are what the old operator installed: its own values, then the labels and annotations of spec.infrastructure,
// then the ConfigMap's. It acted on no other field.
func (m *migration) wso2Values(g *gateway, spec wso2Spec) map[string]any {
	values := map[string]any{}
	if m.options.OperatorValues != nil {
		values = plan.MergeValues(values, m.options.OperatorValues.Values)
	}
	infrastructure := deref(spec.Infrastructure)
	for field, all := range map[string]map[string]string{"labels": infrastructure.Labels, "annotations": infrastructure.Annotations} {
		for _, path := range g.pathsOf("spec.infrastructure." + field) {
			if inMaps(path) && len(all) > 0 {
				values = plan.MergeValues(values, nested(path, tree(all)))
			}
		}
	}
	if g.config == nil {
		return values
	}
	own, problems := plan.ReadValues([]byte(g.config.Data[v1alpha1.ConfigKey]))
	if len(problems) > 0 {
		return values // which the plan reports
	}
	return plan.MergeValues(values, own)
}

func inMaps(path plan.Path) bool {
	return !slices.ContainsFunc(path, func(s plan.Step) bool { return s.IsIndex })
}

// nested is a value at a path of keys.
func nested(path plan.Path, value any) map[string]any {
	for _, step := range slices.Backward(path) {
		value = map[string]any{step.Key: value}
	}
	return value.(map[string]any)
}

// moveWSO2 puts each field where it belongs, or says why it has no place.
func (g *gateway) moveWSO2(spec wso2Spec) {
	g.put("className", "", g.class.Name)
	g.ignored("spec.gatewayClassName", spec.GatewayClassName, "it grouped the old gateways and chose nothing")
	if spec.APISelector != nil {
		g.ignored("spec.apiSelector", tree(spec.APISelector), "Sluice runs gateways and puts no APIs on them; while the old operator is gone, "+
			"nobody brings its RestApis to the gateway")
	}
	infrastructure := deref(spec.Infrastructure)
	g.putNew("infrastructure.replicas", "spec.infrastructure.replicas", number(infrastructure.Replicas))
	g.putNew("infrastructure.resources", "spec.infrastructure.resources", treeOf(infrastructure.Resources))
	g.putNew("infrastructure.images.gateway", "spec.infrastructure.image", infrastructure.Image)
	g.putNew("infrastructure.images.router", "spec.infrastructure.routerImage", infrastructure.RouterImage)
	g.putNew("infrastructure.nodeSelector", "spec.infrastructure.nodeSelector", tree(infrastructure.NodeSelector))
	g.putNew("infrastructure.tolerations", "spec.infrastructure.tolerations", tree(infrastructure.Tolerations))
	g.putNew("infrastructure.affinity", "spec.infrastructure.affinity", treeOf(infrastructure.Affinity))
	g.moveMetadata("labels", infrastructure.Labels)
	g.moveMetadata("annotations", infrastructure.Annotations)
	g.moveControlPlane(deref(spec.ControlPlane))
	storage := deref(spec.Storage)
	g.putNew("storage.type", "spec.storage.type", storage.Type)
	g.putNew("storage.sqlitePath", "spec.storage.sqlitePath", storage.SQLitePath)
	g.moveKey("storage.connectionSecretRef", storage.ConnectionSecretRef)
	if spec.ConfigRef != nil {
		g.put("configRef.name", "spec.configRef.name", spec.ConfigRef.Name)
		if g.configMissing {
			g.warning("spec.configRef.name", fmt.Sprintf("is moved, but ConfigMap %s/%s is not in the input: whether it agrees with the "+
				"fields is not known; pass it with -f", g.name.Namespace, spec.ConfigRef.Name))
		}
	}
}

// moveMetadata moves labels or annotations with those that the old operator's values and the ConfigMap add: what a class maps
// replaces the whole map.
func (g *gateway) moveMetadata(field string, all map[string]string) {
	if len(all) == 0 {
		return
	}
	value := tree(all)
	for _, path := range g.pathsOf("spec.infrastructure." + field) {
		if merged, found := valueAt(g.acted, path); found {
			value = merged
		}
	}
	g.put("infrastructure."+field, "spec.infrastructure."+field, value)
}

func (g *gateway) moveControlPlane(c wso2ControlPlane) {
	g.putNew("controlPlane.host", "spec.controlPlane.host", c.Host)
	g.moveKey("controlPlane.tokenSecretRef", c.TokenSecretRef)
	if c.TLS == nil {
		return
	}
	if c.TLS.Enabled != nil {
		g.putNew("controlPlane.tls.enabled", "spec.controlPlane.tls.enabled", *c.TLS.Enabled)
	}
	g.moveKey("controlPlane.tls.certSecretRef", c.TLS.CertSecretRef)
}

// moveKey moves a reference to a key of a Secret.
func (g *gateway) moveKey(field string, ref *wso2Key) {
	if ref == nil {
		return
	}
	g.putNew(field+".name", "spec."+field+".name", ref.Name)
	g.putNew(field+".key", "spec."+field+".key", ref.Key)
	if ref.Optional != nil {
		g.warning("spec."+field+".optional", "is not moved: the chart decides whether the Secret must be there")
	}
}

func number(n *int32) any {
	if n == nil {
		return nil
	}
	return int64(*n)
}

func treeOf[T any](pointer *T) any {
	if pointer == nil {
		return nil
	}
	return tree(pointer)
}
