// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/claims"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// judge refuses what the plan alone cannot see to be wrong: that an object or the Helm release is somebody else's.
func (r *gatewayReconciler) judge(s *state) {
	awaitEnd(s)
	adopt(s)
	switch {
	case s.fault != nil:
	case s.foreign != nil:
		s.refuse(v1alpha1.ReasonConflict, "metadata.name", foreignRelease(s.foreign))
	case s.taken != nil && s.taken.DeletionTimestamp != nil:
		s.wait = fmt.Sprintf("Helm release %s still belongs to HelmRelease %s, which is being deleted; this gateway goes on once that is gone",
			s.desired.Release.Spec.ReleaseName, client.ObjectKeyFromObject(s.taken))
	case s.taken != nil:
		s.refuse(v1alpha1.ReasonConflict, "spec.release.name", fmt.Sprintf(
			"Helm release %s belongs to HelmRelease %s already (%s): make this gateway with another release name",
			s.desired.Release.Spec.ReleaseName, client.ObjectKeyFromObject(s.taken), whose(s.taken)))
	case !r.watches(s.desired.Source.Namespace):
		s.refuse(v1alpha1.ReasonNotAllowed, "APIGatewayClass/"+s.plan.ClassName+" spec.chart.namespace", fmt.Sprintf(
			"the operator does not watch namespace %[1]s: add %[1]s to its flag --watch-namespaces", s.desired.Source.Namespace))
	case foreignSource(s, r.controllerName):
		s.refuse(v1alpha1.ReasonConflict, "", fmt.Sprintf(
			"OCIRepository %s was not made by this operator and has another spec: delete or rename it",
			client.ObjectKeyFromObject(s.wanted)))
	default:
		judgeRivals(s)
	}
}

// judgeRivals refuses a gateway whose Helm release another one has, and has it wait for one that is on its way out.
func judgeRivals(s *state) {
	winner, lost := lostTo(claimOf(s.gateway, s.release), s.rivals)
	switch {
	case !lost:
	case winner.deleting:
		s.wait = fmt.Sprintf("%s still belongs to APIGateway %s, which is being deleted; this gateway goes on once that is gone",
			winner.meets, winner.gateway)
	default:
		s.refuse(v1alpha1.ReasonConflict, "spec.release.name", fmt.Sprintf(
			"%s belongs to APIGateway %s already: make this gateway with another release name", winner.meets, winner.gateway))
	}
}

// awaitEnd: what is being deleted is nobody's any more, as when a gateway was made again while Flux still uninstalls for the
// one before. Taken for the gateway's own it is not written over, and the status says what is waited for.
func awaitEnd(s *state) {
	if s.fault == nil && s.foreign != nil && s.foreign.DeletionTimestamp != nil {
		s.release, s.foreign = s.foreign, nil
	}
}

func foreignSource(s *state, controllerName string) bool {
	return s.wanted != nil && !madeBy(s.wanted, controllerName) && !sameSource(s.wanted, s.desired.Source)
}

// Labels of kustomize-controller on all that it applies.
const (
	kustomizationName      = "kustomize.toolkit.fluxcd.io/name"
	kustomizationNamespace = "kustomize.toolkit.fluxcd.io/namespace"
)

// foreignRelease says whose the HelmRelease is and what to do.
func foreignRelease(hr *helmv2.HelmRelease) string {
	name := client.ObjectKeyFromObject(hr)
	return fmt.Sprintf("HelmRelease %s exists and is not this gateway's (%s): give the gateway another name, or delete the HelmRelease"+
		" (suspended, it goes without uninstalling its release), or take it over with the annotation %s: \"true\", if the class allows that",
		name, whose(hr), v1alpha1.AnnotationAdopt)
}

func whose(hr *helmv2.HelmRelease) string {
	if owner := metav1.GetControllerOf(hr); owner != nil {
		return fmt.Sprintf("it is owned by %s %s with UID %s", owner.Kind, owner.Name, owner.UID)
	}
	if uid := hr.Annotations[v1alpha1.AnnotationOwnerUID]; uid != "" {
		return "it was made for a gateway with UID " + uid
	}
	if name := hr.Labels[kustomizationName]; name != "" {
		return fmt.Sprintf("it is applied by Kustomization %s/%s", hr.Labels[kustomizationNamespace], name)
	}
	return "it has no owner"
}

// claim is one gateway's claim to a Helm release.
type claim struct {
	gateway types.NamespacedName
	created time.Time
	// exists: its HelmRelease is there. deployed: that has a history.
	exists, deployed bool
	// deleting: the gateway is on its way out, and keeps the release until Flux has uninstalled it.
	deleting bool
	// meets is where a rival's release meets ours.
	meets claims.Key
}

func claimOf(gateway *v1alpha1.APIGateway, release *helmv2.HelmRelease) claim {
	return claim{
		gateway:  client.ObjectKeyFromObject(gateway),
		created:  gateway.CreationTimestamp.Time,
		deleting: gateway.DeletionTimestamp != nil,
		exists:   release != nil,
		deployed: release != nil && len(release.Status.History) > 0,
	}
}

// lostTo finds the rival that has the better claim, if there is one. Who has deployed the release wins, then who has begun
// to, then the older, then the first by name.
func lostTo(mine claim, rivals []claim) (claim, bool) {
	best := slices.MinFunc(append([]claim{mine}, rivals...), compareClaims)
	return best, best.gateway != mine.gateway
}

func compareClaims(a, b claim) int {
	return cmp.Or(
		-compareBool(a.deployed, b.deployed),
		-compareBool(a.exists, b.exists),
		a.created.Compare(b.created),
		cmp.Compare(a.gateway.String(), b.gateway.String()),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// readRivals finds the gateways that claim the same Helm release. One that was refused for another reason, and has no
// HelmRelease, claims nothing. Before the first claim is made the API server is asked for the others': another operator, or
// another worker, may just have made it.
func (r *gatewayReconciler) readRivals(ctx context.Context, s *state) error {
	rivals, err := sameReleaseAs(ctx, r.Client, s.gateway)
	if err != nil {
		return err
	}
	for i := range rivals {
		rival := &rivals[i]
		release, err := getRelease(ctx, r.Client, client.ObjectKeyFromObject(rival))
		if err == nil && release == nil && s.release == nil {
			release, err = getRelease(ctx, r.live, client.ObjectKeyFromObject(rival))
		}
		if err != nil {
			return err
		}
		if release != nil && !isOurs(release, rival) {
			release = nil
		}
		if release != nil || !refusedElsewise(rival) {
			claim := claimOf(rival, release)
			claim.meets, _ = claims.Collide(placesOf(s.gateway), placesOf(rival))
			s.rivals = append(s.rivals, claim)
		}
	}
	return nil
}

// refusedElsewise tells whether the gateway is not accepted as it stands, for another reason than such a conflict.
func refusedElsewise(gateway *v1alpha1.APIGateway) bool {
	accepted := apimeta.FindStatusCondition(gateway.Status.Conditions, v1alpha1.ConditionAccepted)
	return accepted != nil && accepted.Status == metav1.ConditionFalse &&
		accepted.Reason != v1alpha1.ReasonConflict && accepted.ObservedGeneration == gateway.Generation
}

// sameReleaseAs lists the other gateways with the same release name and the same target or storage namespace, to be read only.
func sameReleaseAs(ctx context.Context, reader client.Reader, gateway *v1alpha1.APIGateway) ([]v1alpha1.APIGateway, error) {
	var found []v1alpha1.APIGateway
	seen := map[types.UID]bool{gateway.UID: true}
	for _, key := range releaseKeys(gateway) {
		list := &v1alpha1.APIGatewayList{}
		if err := reader.List(ctx, list, client.MatchingFields{byHelmRelease: key}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		for _, g := range list.Items {
			if !seen[g.UID] {
				seen[g.UID] = true
				found = append(found, g)
			}
		}
	}
	return found, nil
}

// releaseKeys are the keys under which the index holds a gateway.
func releaseKeys(gateway *v1alpha1.APIGateway) []string {
	var keys []string
	for _, key := range claims.Keys(placesOf(gateway)) {
		keys = append(keys, key.String())
	}
	return keys
}

// placesOf is as much of a plan as claims asks for. It needs no class, so that a gateway which is not accepted has it too.
func placesOf(gateway *v1alpha1.APIGateway) *plan.Plan {
	release := gateway.Spec.Release
	if release == nil {
		release = &v1alpha1.GatewayRelease{}
	}
	target := orDefault(release.TargetNamespace, gateway.Namespace)
	return &plan.Plan{Gateway: client.ObjectKeyFromObject(gateway), Release: plan.Release{
		Name:             orDefault(release.Name, gateway.Name),
		TargetNamespace:  target,
		StorageNamespace: orDefault(release.StorageNamespace, target),
		Cluster:          plan.ClusterOf(gateway),
	}}
}

func orDefault(value *string, otherwise string) string {
	if value == nil || *value == "" {
		return otherwise
	}
	return *value
}
