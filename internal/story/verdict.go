// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// maxCauses are told in the verdict, so that they stand at the top of a screen.
const maxCauses = 3

// judge says what the rest of the story comes to.
func judge(in Input, s Story) Verdict {
	g := in.Gateway
	if in.Release != nil && !Owns(g, in.Release) {
		in.Release = nil // what holds for somebody else's says nothing of this gateway
	}
	v := Verdict{Phase: string(g.Status.Phase)}
	ready := apimeta.FindStatusCondition(g.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		v.Message = "the operator has not looked at this gateway yet"
		v.Advice = advise(notSeen, in, nil)
		return v
	}
	v.Reason = ready.Reason
	v.Since, v.SinceOf = since(in.Gateway, ready)
	v.Behind = s.Kustomization.behind()
	v.Message, v.Causes = explain(in, s, ready)
	v.Healthy = ready.Status == metav1.ConditionTrue && len(v.Causes) == 0
	if ready.Status != metav1.ConditionTrue {
		v.Runs = runs(g.Status.Release)
	}
	v.Advice = advise(situation(in, s, ready), in, s.Pods.NotReady)
	if s.Kustomization.notApplied() != "" {
		v.Advice = append(s.Kustomization.advice(), v.Advice...)
	}
	v.Next = next(in, v)
	return v
}

// runs says what Helm has deployed.
func runs(r *v1alpha1.ReleaseStatus) string {
	if r == nil || r.Status != fluxstatus.StatusDeployed {
		return ""
	}
	return fmt.Sprintf("chart version %s runs, revision %d", r.ChartVersion, r.Revision)
}

// since is when what the reason of Ready tells began; nil where nothing tells. A condition keeps its time while its reason
// changes: then of says what is that old.
func since(g *v1alpha1.APIGateway, ready *metav1.Condition) (when *metav1.Time, of string) {
	if g.DeletionTimestamp != nil {
		return g.DeletionTimestamp, ""
	}
	switch ready.Reason {
	case v1alpha1.ReasonSuspended, v1alpha1.ReasonWriteFailed:
		return nil, ""
	}
	from := ready
	for _, kind := range []string{v1alpha1.ConditionAccepted, v1alpha1.ConditionSourceReady, v1alpha1.ConditionRolledBack} {
		c := apimeta.FindStatusCondition(g.Status.Conditions, kind)
		if c != nil && c.Reason == ready.Reason && isBad(*c) {
			from = c
			break
		}
	}
	if from.Status == metav1.ConditionTrue { // Ready and RolledBack are True for one reason each
		return &from.LastTransitionTime, ""
	}
	return &from.LastTransitionTime, fmt.Sprintf("%s is %s", from.Type, from.Status)
}

// explain takes apart what Ready says into what is so and why, and adds the causes that lie deeper.
func explain(in Input, s Story, ready *metav1.Condition) (message string, causes []string) {
	if stuck := s.Kustomization.notApplied(); stuck != "" {
		causes = append(causes, stuck)
	}
	message, cause := apart(in.Gateway, ready)
	if cause != "" {
		causes = append(causes, cause)
	}
	if in.Gateway.Status.ObservedGeneration != in.Gateway.Generation {
		causes = append(causes, fmt.Sprintf("the operator has not seen generation %d of the gateway yet; all this is of generation %d",
			in.Gateway.Generation, in.Gateway.Status.ObservedGeneration))
	}
	if deployedOrTried(ready) {
		causes = append(causes, deeper(in, s)...)
	}
	causes = append(causes, beside(in, s, ready)...)
	if len(causes) > maxCauses {
		causes = append(causes[:maxCauses-1:maxCauses-1], fmt.Sprintf("and %d more, told below", len(causes)-maxCauses+1))
	}
	return message, causes
}

// apart splits a message that ends in the last failure's own.
func apart(g *v1alpha1.APIGateway, ready *metav1.Condition) (message, cause string) {
	message = oneLine(ready.Message)
	if last := g.Status.LastFailure; last != nil && last.Message != "" {
		if before, found := strings.CutSuffix(message, ": "+oneLine(last.Message)); found {
			return before, oneLine(last.Message)
		}
	}
	return message, ""
}

// deployedOrTried: objects and pods have to do with what Ready says.
func deployedOrTried(ready *metav1.Condition) bool {
	switch ready.Reason {
	case v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonUnmappedField, v1alpha1.ReasonFieldConflict, v1alpha1.ReasonNotAllowed,
		v1alpha1.ReasonClassNotFound, v1alpha1.ReasonClassNotAccepted, v1alpha1.ReasonConfigNotFound, v1alpha1.ReasonInvalidConfig,
		v1alpha1.ReasonCapabilityUnknown, v1alpha1.ReasonIssuerRequired, v1alpha1.ReasonConflict, v1alpha1.ReasonOtherController, v1alpha1.ReasonDeleting:
		return false
	}
	return true
}

// workloads are explained by their pods.
var workloads = map[string]bool{"Deployment": true, "StatefulSet": true, "DaemonSet": true, "ReplicaSet": true, "Job": true, "Pod": true}

// deeper are pods and objects that are not as they should be, and pods that were not.
func deeper(in Input, s Story) []string {
	causes := podCauses(s.Pods.NotReady)
	explained := len(causes) > 0
	for _, o := range s.Objects {
		if o.Unhealthy() && !(explained && workloads[o.Kind]) {
			causes = append(causes, fmt.Sprintf("%s %s: %s: %s", o.Kind, nameIn(in.Gateway.Namespace, o.Namespace, o.Name), o.Health, oneLine(o.Message)))
		}
	}
	if in.Gateway.Status.Failures > 0 {
		causes = append(causes, lost(s.Events, in)...)
	}
	return causes
}

// beside is what other conditions say that Ready does not.
func beside(in Input, s Story, ready *metav1.Condition) []string {
	var found []string
	conditions := in.Gateway.Status.Conditions
	c := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionSourceReady)
	if c != nil && c.Status == metav1.ConditionFalse && !strings.Contains(ready.Message, c.Message) {
		found = append(found, "the chart's source does not refresh: "+oneLine(c.Message))
	}
	if ready.Status != metav1.ConditionTrue {
		return found
	}
	if c := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionReconciling); c != nil && c.Status == metav1.ConditionTrue {
		found = append(found, oneLine(c.Message))
	}
	if c := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionDrifted); c != nil && c.Status == metav1.ConditionTrue {
		found = append(found, oneLine(c.Message))
	}
	if s.Release != nil && s.Release.Suspended {
		found = append(found, fmt.Sprintf("HelmRelease %s is suspended: no change is deployed, and no drift repaired, until it is resumed",
			nameIn("", s.Release.Namespace, s.Release.Name)))
	}
	return found
}

// situation is the key of the advice.
func situation(in Input, s Story, ready *metav1.Condition) string {
	g, hr := in.Gateway, in.Release
	byHand := hr != nil && hr.Spec.Suspend && (g.Spec.Suspend == nil || !*g.Spec.Suspend)
	suspended := hr != nil && hr.Spec.Suspend && ready.Status == metav1.ConditionTrue
	stalled := apimeta.FindStatusCondition(g.Status.Conditions, v1alpha1.ConditionStalled)
	switch {
	case g.DeletionTimestamp != nil:
		return parting(g, hr, ready, byHand)
	case g.Status.ObservedGeneration != g.Generation:
		return notSeen
	case byHand && (suspended || ready.Reason == v1alpha1.ReasonSuspended):
		return suspendedByHand
	case suspended:
		return v1alpha1.ReasonSuspended
	case stalled != nil && stalled.Reason == v1alpha1.ReasonRetriesExceeded:
		return gaveUp
	case ready.Status == metav1.ConditionTrue && hasDrifted(g, s):
		return drifted
	case ready.Status == metav1.ConditionTrue:
		return sourceFault(g)
	case ready.Reason == helmv2.DependencyNotReadyReason && strings.HasSuffix(ready.Message, " not found"):
		return noDependency
	case ready.Reason == v1alpha1.ReasonPending && apimeta.IsStatusConditionTrue(g.Status.Conditions, v1alpha1.ConditionSourceReady):
		return waitsItsTurn
	}
	return ready.Reason
}

// parting is the situation of a gateway that is being deleted.
func parting(g *v1alpha1.APIGateway, hr *helmv2.HelmRelease, ready *metav1.Condition, suspendedByHand bool) string {
	switch {
	case g.Orphans():
		return orphans
	case hr == nil:
		return ready.Reason
	case suspendedByHand && hr.DeletionTimestamp == nil:
		return heldBySuspension
	case hr.Spec.ServiceAccountName != "" && strings.HasPrefix(ready.Message, "ServiceAccount "):
		return heldByAccount
	}
	if c := apimeta.FindStatusCondition(hr.Status.Conditions, meta.ReadyCondition); c != nil && c.Reason == helmv2.UninstallFailedReason {
		return c.Reason
	}
	return ready.Reason
}

// hasDrifted: Flux says so, or will at its next look.
func hasDrifted(g *v1alpha1.APIGateway, s Story) bool {
	return apimeta.IsStatusConditionTrue(g.Status.Conditions, v1alpha1.ConditionDrifted) ||
		slices.ContainsFunc(s.Objects, func(o Object) bool { return o.Health == status.NotFoundStatus.String() })
}

// sourceFault is the reason of a source that does not refresh beside a gateway that is Ready.
func sourceFault(g *v1alpha1.APIGateway) string {
	if c := apimeta.FindStatusCondition(g.Status.Conditions, v1alpha1.ConditionSourceReady); c != nil && c.Status == metav1.ConditionFalse {
		return c.Reason
	}
	return v1alpha1.ReasonReady
}

func advise(situation string, in Input, pods []Pod) []Advice {
	var all []Advice
	if a := aboutGateway(situation, in); a != nil {
		all = append(all, *a)
	}
	return append(all, aboutPods(pods)...)
}

// next is what happens without anybody's doing.
func next(in Input, v Verdict) []Step {
	g := in.Gateway
	reconciling := apimeta.FindStatusCondition(g.Status.Conditions, v1alpha1.ConditionReconciling)
	switch {
	case g.DeletionTimestamp != nil && g.Orphans():
		return []Step{{Text: "the gateway goes once its HelmRelease is gone"}}
	case g.DeletionTimestamp != nil:
		return []Step{{Text: "the gateway goes once Flux has uninstalled the release"}}
	case in.Release != nil && in.Release.Spec.Suspend:
		return []Step{{Text: "nothing, until it is resumed"}}
	case g.Status.NextRetryTime != nil && in.Release != nil && fluxstatus.TriesByItself(in.Release):
		return []Step{{Text: fmt.Sprintf("after %d failed, Flux tries again by itself, after waits that grow, and Sluice asks for one more attempt",
			g.Status.Failures), Time: g.Status.NextRetryTime}}
	case g.Status.NextRetryTime != nil:
		return []Step{{Text: fmt.Sprintf("after %d failed, another attempt at the same state starts", g.Status.Failures), Time: g.Status.NextRetryTime}}
	case reconciling != nil && oneLine(reconciling.Message) != oneLine(v.Message):
		return []Step{{Text: oneLine(reconciling.Message)}}
	case reconciling != nil:
		return []Step{{Text: "Flux goes on by itself" + atMost(in)}}
	case apimeta.IsStatusConditionTrue(g.Status.Conditions, v1alpha1.ConditionStalled):
		return []Step{{Text: "nothing, until a change is committed"}}
	case in.Release != nil:
		return []Step{{Text: fmt.Sprintf("Flux compares the release with the cluster every %s", in.Release.Spec.Interval.Duration)}}
	}
	return nil
}

// atMost tells how long the action that runs may take.
func atMost(in Input) string {
	if in.Release == nil || in.Release.Spec.Timeout == nil {
		return ""
	}
	return fmt.Sprintf("; each step takes at most %s", in.Release.Spec.Timeout.Duration)
}

// nameIn leaves out the namespace that one is in.
func nameIn(home, namespace, name string) string {
	if namespace == "" || namespace == home {
		return name
	}
	return namespace + "/" + name
}

// oneLine makes a text fit into a line of a screen: its words, with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
