// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
)

// world is a namespace and a class for one test.
type world struct {
	*testing.T
	ctx   context.Context
	ns    string
	class string
	since time.Time // when the world was made
}

// worlds are as many as have been made.
var worlds atomic.Int32

// newWorld makes a namespace, and a class of the same name from the spec.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, ctx: t.Context(), ns: fmt.Sprintf("t%07d", worlds.Add(1)), since: time.Now()}
	w.class = w.ns
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}})
	w.apply(fmt.Sprintf(`
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: %s}
spec:
  chart: {url: "oci://registry.example.com/charts/gateway", ref: {tag: 1.0.0}}
  values: {platform: {team: edge, unset: null}}
  valueMappings:
  - {field: infrastructure.replicas, paths: [deployment.replicaCount]}
  imageMappings:
  - {name: gateway, paths: [{repository: image.repository, tag: image.tag}]}
  policy: {allowedTargetNamespaces: ["*"], allowServiceAccountOverride: true}
`, w.class))
	t.Cleanup(w.clean)
	return w
}

// clean removes the gateways, so that later tests are not disturbed by them, and the class.
func (w *world) clean() {
	w.ctx = context.Background()
	gateways := &v1alpha1.APIGatewayList{}
	w.must(admin.List(w.ctx, gateways, client.InNamespace(w.ns)))
	for i := range gateways.Items {
		gateway := &gateways.Items[i]
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		w.must(client.IgnoreNotFound(admin.Delete(w.ctx, gateway)))
		w.must(client.IgnoreNotFound(admin.Patch(w.ctx, gateway, patch)))
	}
	class := &v1alpha1.APIGatewayClass{ObjectMeta: metav1.ObjectMeta{Name: w.class}}
	w.must(client.IgnoreNotFound(admin.Delete(w.ctx, class)))
}

func (w *world) must(err error) {
	w.Helper()
	must(w.T, err)
}

func (w *world) create(o client.Object) {
	w.Helper()
	w.must(admin.Create(w.ctx, o))
}

// apply creates or changes objects, YAML documents, as people do by server-side apply: what they leave out goes.
func (w *world) apply(manifests string) {
	w.Helper()
	w.must(w.tryApply(manifests))
}

func (w *world) tryApply(manifests string) error {
	for _, text := range strings.Split(manifests, "---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			return err
		}
		if err := admin.Apply(w.ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("people"), client.ForceOwnership); err != nil {
			return err
		}
	}
	return nil
}

// gateway applies a gateway of the world's class with this spec, in YAML; it is the whole spec.
func (w *world) gateway(name, spec string) {
	w.Helper()
	w.gatewayOf(w.class, name, spec)
}

func (w *world) gatewayOf(class, name, spec string) {
	w.Helper()
	w.apply(manifest(w.ns, name, "className: "+class+"\n"+spec))
}

func manifest(namespace, name, spec string) string {
	return fmt.Sprintf("apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGateway\nmetadata: {name: %s, namespace: %s}\nspec:\n%s",
		name, namespace, indent(spec))
}

func indent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

func (w *world) await(what string, check func() error) {
	w.Helper()
	w.awaitWithin(patience, what, check)
}

func (w *world) awaitWithin(timeout time.Duration, what string, check func() error) {
	w.Helper()
	w.must(cluster.Await(w.ctx, timeout, what, func(context.Context) error { return check() }))
}

func (w *world) get(name string, o client.Object) error {
	return admin.Get(w.ctx, types.NamespacedName{Namespace: w.ns, Name: name}, o)
}

func (w *world) status(name string) v1alpha1.APIGatewayStatus {
	w.Helper()
	gateway := &v1alpha1.APIGateway{}
	w.must(w.get(name, gateway))
	return gateway.Status
}

func (w *world) release(name string) *helmv2.HelmRelease {
	w.Helper()
	hr := &helmv2.HelmRelease{}
	w.must(w.get(name, hr))
	return hr
}

// awaitRelease waits for a HelmRelease that satisfies check (nil: any).
func (w *world) awaitRelease(name, what string, check func(*helmv2.HelmRelease) bool) *helmv2.HelmRelease {
	w.Helper()
	hr := &helmv2.HelmRelease{}
	w.await("HelmRelease "+name+": "+what, func() error {
		if err := w.get(name, hr); err != nil {
			return err
		}
		if check != nil && !check(hr) {
			return fmt.Errorf("is %s", inYAML(hr.Spec))
		}
		return nil
	})
	return hr
}

func (w *world) awaitGone(o client.Object) {
	w.Helper()
	w.await(fmt.Sprintf("%T %s is gone", o, o.GetName()), func() error {
		err := w.get(o.GetName(), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("is there"))
	})
}

// awaitReason waits until a condition of the gateway, for its present generation, has the reason; it returns the message.
func (w *world) awaitReason(name, kind, reason string) string {
	w.Helper()
	var message string
	w.await(fmt.Sprintf("%s of %s: %s", kind, name, reason), func() (err error) {
		message, err = w.reason(name, kind, reason)
		return err
	})
	return message
}

func (w *world) reason(name, kind, reason string) (string, error) {
	gateway := &v1alpha1.APIGateway{}
	if err := w.get(name, gateway); err != nil {
		return "", err
	}
	c := apimeta.FindStatusCondition(gateway.Status.Conditions, kind)
	if c == nil || c.Reason != reason || c.ObservedGeneration != gateway.Generation {
		return "", fmt.Errorf("generation %d: %s", gateway.Generation, inYAML(gateway.Status))
	}
	return c.Message, nil
}

// settled waits until the operator has answered for the gateway's present generation and returns the gateway.
func (w *world) settled(name string) *v1alpha1.APIGateway {
	w.Helper()
	gateway := &v1alpha1.APIGateway{}
	w.await("status of "+name, func() error {
		if err := w.get(name, gateway); err != nil {
			return err
		}
		if gateway.Status.ObservedGeneration != gateway.Generation {
			return fmt.Errorf("generation %d, observed %d", gateway.Generation, gateway.Status.ObservedGeneration)
		}
		return nil
	})
	return gateway
}

func (w *world) sources() []sourcev1.OCIRepository {
	w.Helper()
	list := &sourcev1.OCIRepositoryList{}
	w.must(admin.List(w.ctx, list, client.InNamespace(w.ns)))
	return list.Items
}

func (w *world) releases() []helmv2.HelmRelease {
	w.Helper()
	list := &helmv2.HelmReleaseList{}
	w.must(admin.List(w.ctx, list, client.InNamespace(w.ns)))
	return list.Items
}

func (w *world) patch(o client.Object, name, merge string) {
	w.Helper()
	o.SetName(name)
	o.SetNamespace(w.ns)
	w.must(admin.Patch(w.ctx, o, client.RawPatch(types.MergePatchType, []byte(merge))))
}

// kept are the operator's writes to one kind of object, newest last.
func (w *world) kept(since time.Time, resource string) []string {
	w.Helper()
	var out []string
	for _, line := range writes(w.T, since, w.ns) {
		if strings.Contains(line, " "+resource+" ") {
			out = append(out, line)
		}
	}
	return out
}
