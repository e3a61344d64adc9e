// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/spelling"
)

// oneGateway wants the name of a gateway.
func oneGateway(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("%s: name one APIGateway, as in: %s web", cmd.Name(), cmd.CommandPath())
}

// gateway reads one.
func (c *cluster) gateway(ctx context.Context, name string) (*v1alpha1.APIGateway, error) {
	gateway := &v1alpha1.APIGateway{}
	err := c.Get(ctx, types.NamespacedName{Namespace: c.namespace, Name: name}, gateway)
	if isMissing(err, name) {
		return nil, c.missing(ctx, name)
	}
	return gateway, explained(err)
}

// isMissing: the kind is served, and there is none of that name. Where it is not served, the answer is a NotFound too.
func isMissing(err error, name string) bool {
	status, answered := errors.AsType[*apierrors.StatusError](err)
	return answered && apierrors.IsNotFound(err) && status.ErrStatus.Details != nil && status.ErrStatus.Details.Name == name
}

// patch changes a gateway by a merge patch.
func (c *cluster) patch(ctx context.Context, gateway *v1alpha1.APIGateway, patch map[string]any) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	err = c.Patch(ctx, gateway, client.RawPatch(types.MergePatchType, data), client.FieldOwner(fieldManager))
	if isMissing(err, gateway.Name) {
		return c.missing(ctx, gateway.Name)
	}
	return explained(err)
}

// manyNames are too many to list in an error.
const manyNames = 10

// missing says what there is instead: a name spelt alike, the same name elsewhere, or the few that there are.
func (c *cluster) missing(ctx context.Context, name string) error {
	text := fmt.Sprintf("there is no APIGateway %s in namespace %s", name, c.namespace)
	// People who may not list all namespaces are told of their own.
	all := &v1alpha1.APIGatewayList{}
	if c.List(ctx, all) != nil {
		if err := c.List(ctx, all, client.InNamespace(c.namespace)); err != nil {
			return errors.New(text)
		}
	}
	var here, elsewhere []string
	for _, g := range all.Items {
		switch {
		case g.Namespace == c.namespace:
			here = append(here, g.Name)
		case g.Name == name:
			elsewhere = append(elsewhere, g.Namespace)
		}
	}
	near := slices.DeleteFunc(slices.Clone(here), func(other string) bool { return spelling.Edits(name, other) > maxEdits(name) })
	switch {
	case len(near) > 0:
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	case len(elsewhere) > 0:
		text += fmt.Sprintf("; there is one in namespace %s: pass -n", strings.Join(elsewhere, ", "))
	case len(here) == 0:
		text += ", nor any other"
	case len(here) <= manyNames:
		text += "; there are: " + strings.Join(here, ", ")
	}
	return errors.New(text)
}

// maxEdits is how far another name may be to have been meant: a third of the name.
func maxEdits(name string) int { return max(1, len(name)/3) }
