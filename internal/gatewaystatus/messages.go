// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus

import (
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// maxMessage is the API's limit for a condition's message, in characters.
const maxMessage = 32768

// cut shortens a message to the API's limit, so that a long one from Flux cannot make a status unwritable.
func cut(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	runes := []rune(message)
	if len(runes) <= maxMessage {
		return message
	}
	return string(runes[:maxMessage-1]) + "…"
}

func running(s *helmv2.Snapshot) string {
	return fmt.Sprintf("chart %s %s is deployed as revision %d", s.ChartName, fluxstatus.AuthorVersion(s.ChartVersion), s.Version)
}

// unknownCause stands for the message of a failure that nobody saw.
const unknownCause = "its error is not known any more"

func rollbackMessage(f facts) string {
	cause := unknownCause
	switch {
	case f.o.Failure != nil:
		cause = f.o.Failure.Message
	case f.rounds.Last != nil:
		cause = f.rounds.Last.Message
	}
	runs := "an earlier revision"
	if s := f.o.Latest; f.o.Deployed() {
		runs = fmt.Sprintf("chart version %s (revision %d)", fluxstatus.AuthorVersion(s.ChartVersion), s.Version)
	}
	return fmt.Sprintf("the upgrade to chart version %s failed and was rolled back; %s runs instead, and Flux repairs no drift of it meanwhile: %s",
		f.o.AttemptedVersion, runs, cause)
}

func deletionMessage(f facts) string {
	switch {
	case f.in.Hold != "":
		return f.in.Hold
	case f.in.Release == nil:
		return "the release is gone"
	case f.o.Ready.Reason == helmv2.UninstallFailedReason:
		return fmt.Sprintf("Flux could not uninstall the release and tries again: %s", f.o.Ready.Message)
	}
	return fmt.Sprintf("waiting for Flux to uninstall HelmRelease %s/%s", f.in.Release.Namespace, f.in.Release.Name)
}

// retryMessage says what happens next after a failure, and when.
func retryMessage(f facts, next *metav1.Time) string {
	switch {
	case f.in.WriteError != nil:
		return "Sluice tries again to write it"
	case f.o.Failure != nil && f.o.Failure.Canceled:
		return "the attempt was interrupted; another one starts at once"
	case f.rounds.Failures == 0 || f.in.Plan == nil:
		return "Flux tries again by itself"
	case f.in.Plan.Remediation.Strategy == v1alpha1.StrategyRetry:
		return fmt.Sprintf("failed attempts: %d; Flux tries again every %s",
			f.rounds.Failures, f.in.Plan.Remediation.Backoff.Initial)
	}
	return fmt.Sprintf("failed rounds: %d of %d; %s", f.rounds.Failures, f.in.Plan.Remediation.FailureThreshold, nextStep(f, next))
}

func nextStep(f facts, next *metav1.Time) string {
	switch {
	case next != nil:
		return fmt.Sprintf("the next attempt starts at %s", next.UTC().Format(time.RFC3339))
	case f.o.Reconciling != "":
		return f.o.Reconciling
	}
	return "Flux is about to act"
}
