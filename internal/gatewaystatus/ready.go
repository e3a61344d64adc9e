// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	"github.com/sluice-gateway/sluice/internal/recovery"
)

// reasonSourceNotReady is one that helm-controller writes as a literal (v1.6.4).
const reasonSourceNotReady = "SourceNotReady"

// verdict is what Ready says.
type verdict struct {
	status  metav1.ConditionStatus
	reason  string
	message string
}

func isTrue(reason, format string, args ...any) *verdict {
	return &verdict{metav1.ConditionTrue, reason, fmt.Sprintf(format, args...)}
}

func isFalse(reason, format string, args ...any) *verdict {
	return &verdict{metav1.ConditionFalse, reason, fmt.Sprintf(format, args...)}
}

func isUnknown(reason, format string, args ...any) *verdict {
	return &verdict{metav1.ConditionUnknown, reason, fmt.Sprintf(format, args...)}
}

// facts are what the rule of Ready judges.
type facts struct {
	in Input
	o  fluxstatus.Observation
	// known is what is on record of earlier successes and failures, and of one that has just been seen.
	known  record
	rounds recovery.Rounds
}

// readyRules is the rule of Ready, in its order: the first that has something to say decides. The numbers are those of the
// design's section "Status".
var readyRules = []func(facts) *verdict{
	deleting,        // a gateway on its way out says nothing else
	notAccepted,     // 1
	waits,           // nothing is written yet
	refused,         // the API server did not take what was written
	suspended,       // 2
	deployed,        // 3
	digestIgnored,   // 3, its last sentence
	rolledBack,      // 4
	releaseFailed,   // 5
	fluxFailed,      // 6
	sourceFailed,    // 7
	failedBefore,    // 8
	stillProgresses, // 9
}

func ready(f facts) verdict {
	for _, rule := range readyRules {
		if v := rule(f); v != nil {
			return *v
		}
	}
	return *stillProgresses(f)
}

func deleting(f facts) *verdict {
	if f.in.Gateway.DeletionTimestamp == nil {
		return nil
	}
	return isFalse(v1alpha1.ReasonDeleting, "%s", deletionMessage(f))
}

func notAccepted(f facts) *verdict {
	if f.in.Fault == nil {
		return nil
	}
	return isFalse(f.in.Fault.Reason(), "%s", f.in.Fault.Error())
}

func waits(f facts) *verdict {
	if f.in.Wait == "" {
		return nil
	}
	return isUnknown(v1alpha1.ReasonPending, "%s", f.in.Wait)
}

func refused(f facts) *verdict {
	if f.in.WriteError == nil {
		return nil
	}
	return isFalse(v1alpha1.ReasonWriteFailed, "%s", f.in.WriteError.Error())
}

func suspended(f facts) *verdict {
	if !f.o.Suspended || desiredIsDeployed(f) {
		return nil
	}
	return isFalse(v1alpha1.ReasonSuspended, "the HelmRelease is suspended, and Flux has not confirmed that the desired state runs: %s", howToResume(f.in))
}

func howToResume(in Input) string {
	if in.Gateway.Spec.Suspend != nil && *in.Gateway.Spec.Suspend {
		return "set spec.suspend to false to go on"
	}
	return fmt.Sprintf(`run "flux resume helmrelease %s -n %s" to go on`, in.Gateway.Name, in.Gateway.Namespace)
}

func deployed(f facts) *verdict {
	if !desiredIsDeployed(f) {
		return nil
	}
	return isTrue(v1alpha1.ReasonReady, "%s", running(f))
}

// desiredIsDeployed is rule 3: Flux attempted this very generation with this very chart and speaks of success, or a
// success at these contents is on record for the revision that runs and nothing was attempted since.
func desiredIsDeployed(f facts) bool {
	o := f.o
	if !o.Carries || !o.Deployed() || o.DigestIgnored() || o.ContentHash == "" {
		return false
	}
	return attemptSucceeded(o, f.known) || stillOnRecord(f)
}

// attemptSucceeded: helm-controller can say "upgrade succeeded" while a change of patches alone was rolled back, or failed
// before there was a revision. So the contents of the revision that runs must be known, or it must be this attempt's.
func attemptSucceeded(o fluxstatus.Observation, known record) bool {
	if !upToRollback(o) {
		return false
	}
	switch {
	case known.atLatest != "":
		return known.atLatest == o.ContentHash
	case o.FromRollback():
		return known.last == o.ContentHash
	}
	return !known.ranOn(o) && !known.madeBefore(o)
}

// upToRollback is all of rule 3 but the part about rollbacks.
func upToRollback(o fluxstatus.Observation) bool {
	return saysSuccess(o) && o.Deployed() && !o.DigestIgnored()
}

// saysSuccess: Flux has attempted what is desired, has finished with it, and is content. While an action runs Ready=True says
// nothing yet: Flux writes conditions before history.
func saysSuccess(o fluxstatus.Observation) bool {
	return o.Carries && o.Attempted && o.Observed && o.Ready.Status == metav1.ConditionTrue && o.Activity != fluxstatus.Acting
}

// stillOnRecord: the generation moved without an attempt (suspend, resume, a setting), a prerequisite fails before one, or
// drift is being corrected. A release failure, an action that runs or was interrupted, and a correction that did not help are
// none of these.
func stillOnRecord(f facts) bool {
	switch f.o.Activity {
	case fluxstatus.Acting, fluxstatus.Retrying, fluxstatus.Waiting:
		return false
	}
	return f.known.atLatest == f.o.ContentHash && f.o.AttemptedChart && !f.o.Unfinished &&
		!fluxstatus.IsReleaseFailure(f.o.Ready.Reason)
}

func digestIgnored(f facts) *verdict {
	if !saysSuccess(f.o) || !f.o.DigestIgnored() {
		return nil
	}
	return isFalse(v1alpha1.ReasonChartDigestIgnored,
		"Flux runs chart digest %s, not the wanted %s, and reports success: its feature gate DisableChartDigestTracking is on; turn it off, or change the chart's version",
		f.o.Latest.OCIDigest, f.o.Source.Digest)
}

func rolledBack(f facts) *verdict {
	if !isRolledBack(f) {
		return nil
	}
	return isFalse(v1alpha1.ReasonRolledBack, "%s", rollbackMessage(f))
}

func isRolledBack(f facts) bool {
	if !f.o.Carries {
		return false
	}
	return f.o.RolledBack || upToRollback(f.o) && f.o.FromRollback() && !attemptSucceeded(f.o, f.known)
}

func releaseFailed(f facts) *verdict {
	if !f.o.Carries || f.o.Failure == nil || f.o.Failure.Canceled {
		return nil
	}
	return isFalse(f.o.Failure.Reason, "%s", f.o.Failure.Message)
}

// fluxFailed: what Flux says before it attempts anything. Two of its reasons are no failures but interruptions.
func fluxFailed(f facts) *verdict {
	r := f.o.Ready
	if !f.o.Carries || r.Status != metav1.ConditionFalse || !r.Current || fluxstatus.IsReleaseFailure(r.Reason) {
		return nil
	}
	if interrupted(f) {
		return isUnknown(r.Reason, "%s", r.Message)
	}
	if r.Reason == reasonSourceNotReady && sourceExplains(f.o.Source) {
		return nil
	}
	return isFalse(r.Reason, "%s", r.Message)
}

// interrupted: another attempt starts at once, by Flux or, where that has spent its retries, by Sluice. While Flux goes on to
// a new generation it has stalled at the one before, and has not observed the new one.
func interrupted(f facts) bool {
	gaveUp := f.o.Stalled && f.o.Observed
	return fluxstatus.IsInterruption(f.o.Ready.Reason) && (!gaveUp || f.o.Failure != nil && f.o.Failure.Canceled)
}

// sourceExplains: the source itself says more about SourceNotReady than the HelmRelease does: it is still pulling, or it
// failed (rule 7), or it has become ready and Flux will notice.
func sourceExplains(s fluxstatus.Source) bool {
	return s.Digest == "" || s.Usable
}

func sourceFailed(f facts) *verdict {
	s := f.o.Source
	if s.Digest != "" || s.Ready.Status != metav1.ConditionFalse || !s.Ready.Current {
		return nil
	}
	return isFalse(s.Ready.Reason, "OCIRepository %s: %s", sourceOf(f.in.Desired), s.Ready.Message)
}

func failedBefore(f facts) *verdict {
	if f.rounds.Failures == 0 || f.rounds.Last == nil {
		return nil
	}
	return isFalse(f.rounds.Last.Reason, "%s", f.rounds.Last.Message)
}

func stillProgresses(f facts) *verdict {
	switch o := f.o; {
	case o.Deleting:
		return isUnknown(v1alpha1.ReasonPending, "the HelmRelease is being deleted; it is made again once it is gone")
	case o.Exists && !o.Carries && !o.Source.Usable:
		return isUnknown(v1alpha1.ReasonPending, "the HelmRelease switches to the desired state once OCIRepository %s has its artifact",
			sourceOf(f.in.Desired))
	case !o.Exists && o.Source.Digest != "", o.Exists && !o.Carries:
		return isUnknown(v1alpha1.ReasonPending, "the HelmRelease is about to be written")
	case o.Source.Digest == "":
		return isUnknown(v1alpha1.ReasonPending, "waiting for the chart: OCIRepository %s has no artifact yet", sourceOf(f.in.Desired))
	case o.Reconciling != "":
		return isUnknown(v1alpha1.ReasonProgressing, "%s", o.Reconciling)
	case upToRollback(o):
		return isUnknown(v1alpha1.ReasonProgressing, "Flux reports success, but revision %d was made of other contents; one more upgrade is asked for",
			o.Latest.Version)
	}
	return isUnknown(v1alpha1.ReasonProgressing, "waiting for Flux to act on the desired state")
}
