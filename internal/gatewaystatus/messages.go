// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus

import (
	"fmt"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// maxMessage is the API's limit for a condition's message, in characters.
const maxMessage = 32768

// oneLine joins a message's lines: kubectl shows the first alone in a column, and the cause often stands in the last.
func oneLine(message string) string {
	if !strings.Contains(message, "\n") {
		return message
	}
	var lines []string
	for line := range strings.Lines(message) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

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

func running(f facts) string {
	s, where := f.o.Latest, ""
	if f.in.Plan != nil && f.in.Plan.Release.Cluster != nil {
		where = " on cluster " + f.in.Plan.Release.Cluster.Name
	}
	hint := ""
	if f.o.Suspended {
		hint = "; it is suspended: Flux repairs no drift of it and applies no change (" + howToResume(f.in) + ")"
	}
	return fmt.Sprintf("chart %s %s is deployed as revision %d%s%s", s.ChartName, fluxstatus.AuthorVersion(s.ChartVersion), s.Version, where, hint)
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
	failed, runs := "chart version "+f.o.AttemptedVersion, "an earlier revision"
	if s := f.o.Latest; f.o.Deployed() {
		runs = fmt.Sprintf("chart version %s (revision %d)", fluxstatus.AuthorVersion(s.ChartVersion), s.Version)
		if f.o.FromRollback() { // Helm makes the rollback's revision right after the one that failed
			failed = fmt.Sprintf("%s (revision %d)", failed, s.Version-1)
		}
	}
	return fmt.Sprintf("the upgrade to %s failed and was rolled back; %s runs instead, and Flux repairs no drift of it meanwhile: %s",
		failed, runs, cause)
}

// stalledMessage says when the next attempt comes, if that is known, and what was wrong at the last.
func stalledMessage(f facts, next *metav1.Time) string {
	then := ""
	switch {
	case next != nil:
		then = nextStep(f, next) + "; "
	case f.in.Plan.Remediation.Strategy == v1alpha1.StrategyRetry && !f.o.Suspended:
		then = fluxRetries(f) + "; "
	}
	return fmt.Sprintf("failed rounds: %d; %sthe last: %s", f.rounds.Failures, then, f.rounds.Last.Message)
}

// fluxRetries is how often Flux tries again by itself under strategy Retry.
func fluxRetries(f facts) string {
	return fmt.Sprintf("Flux tries again every %s", f.in.Plan.Remediation.Backoff.Initial)
}

func deletionMessage(f facts) string {
	switch {
	case f.in.Hold != "":
		return f.in.Hold
	case f.in.Release == nil && f.in.Gateway.Orphans() && f.in.Gateway.Status.Release != nil:
		return "the HelmRelease is gone, and the release runs on: deletionPolicy is Orphan"
	case f.in.Release == nil:
		return "the release is gone"
	case f.in.Gateway.Orphans():
		return fmt.Sprintf("waiting for HelmRelease %s/%s to go without an uninstall: deletionPolicy is Orphan, and the release runs on",
			f.in.Release.Namespace, f.in.Release.Name)
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
		return fmt.Sprintf("failed attempts: %d; %s", f.rounds.Failures, fluxRetries(f))
	}
	return fmt.Sprintf("failed rounds: %d of %d; %s", f.rounds.Failures, f.in.Plan.Remediation.FailureThreshold, nextStep(f, next))
}

func nextStep(f facts, next *metav1.Time) string {
	switch {
	case next != nil && fluxstatus.TriesByItself(f.in.Release):
		return fmt.Sprintf("Flux tries again by itself, after waits that grow, and Sluice asks for an attempt at %s", next.UTC().Format(time.RFC3339))
	case next != nil:
		return fmt.Sprintf("the next attempt starts at %s", next.UTC().Format(time.RFC3339))
	case f.o.Reconciling != "":
		return f.o.Reconciling
	}
	return "Flux is about to act"
}
