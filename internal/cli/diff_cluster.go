// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/internal/diff"
	"github.com/sluice-gateway/sluice/internal/render"
)

// againstCluster stands for the objects that are there now.
const againstCluster = "cluster"

// compareCluster compares what is rendered with what the cluster holds, by having the API server try each write without
// keeping it.
func compareCluster(ctx context.Context, c *cluster, set *render.Set, objects []render.Object) ([]diff.Change, error) {
	before, after := make([]*diff.Object, len(objects)), make([]diff.Object, len(objects))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, o := range objects {
		group.Go(func() error {
			live, next, err := c.tryWrite(ctx, set, o)
			if err != nil {
				return explainedObject(o, err)
			}
			if live != nil {
				text := textOf(o, live)
				before[i] = &text
			}
			after[i] = textOf(o, next)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var found []diff.Object
	for _, object := range before {
		if object != nil {
			found = append(found, *object)
		}
	}
	return diff.Objects(found, after, func(_, _ diff.Object) bool { return false }), nil
}

// tryWrite is the live object, nil where there is none, and what it would be.
func (c *cluster) tryWrite(ctx context.Context, set *render.Set, o render.Object) (live, next *unstructured.Unstructured, err error) {
	tree, err := o.Tree()
	if err != nil {
		return nil, nil, err
	}
	wanted := &unstructured.Unstructured{Object: tree}
	live = &unstructured.Unstructured{}
	live.SetGroupVersionKind(wanted.GroupVersionKind())
	err = c.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	if apierrors.IsNotFound(err) {
		return nil, wanted, c.Create(ctx, wanted, client.DryRunAll, client.FieldOwner(fieldManager))
	}
	if err != nil {
		return nil, nil, err
	}
	next = over(live, wanted, set)
	return live, next, c.Update(ctx, next, client.DryRunAll, client.FieldOwner(fieldManager))
}

// over is the live object with what the operator would write: the whole spec, and its labels beside those of others. Whether a
// HelmRelease is suspended is for people to say, unless the gateway does.
func over(live, wanted *unstructured.Unstructured, set *render.Set) *unstructured.Unstructured {
	next := live.DeepCopy()
	labels := maps.Clone(live.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, wanted.GetLabels())
	next.SetLabels(labels)
	spec, _ := wanted.DeepCopy().Object["spec"].(map[string]any)
	gateway := set.Gateway(types.NamespacedName{Namespace: wanted.GetNamespace(), Name: wanted.GetName()})
	if wanted.GetKind() == helmv2.HelmReleaseKind && gateway != nil && gateway.Spec.Suspend == nil {
		delete(spec, "suspend")
		if suspended, found, err := unstructured.NestedFieldNoCopy(live.Object, "spec", "suspend"); err == nil && found {
			spec["suspend"] = suspended
		}
	}
	next.Object["spec"] = spec
	return next
}

// serverFields of metadata change with every write, or are the operator's own marks.
var serverFields = []string{"annotations", "creationTimestamp", "finalizers", "generation", "managedFields", "ownerReferences", "resourceVersion", "uid"}

func textOf(o render.Object, u *unstructured.Unstructured) diff.Object {
	tree := u.DeepCopy().Object
	delete(tree, "status")
	if metadata, isMap := tree["metadata"].(map[string]any); isMap {
		for _, field := range serverFields {
			delete(metadata, field)
		}
	}
	text, err := yaml.Marshal(tree)
	if err != nil {
		text = []byte(err.Error() + "\n")
	}
	return diff.Object{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Text: string(text)}
}

// explainedObject says what a request about one of Flux's objects ended in.
func explainedObject(o render.Object, err error) error {
	_, isUnreachable := errors.AsType[*url.Error](err)
	switch {
	case apimeta.IsNoMatchError(err):
		return fmt.Errorf("this cluster does not serve %ss: install Flux, or choose another cluster by --context", o.Kind)
	case isUnreachable, apierrors.IsUnauthorized(err):
		return explained(err)
	}
	return fmt.Errorf("%s: %w", o, err)
}
