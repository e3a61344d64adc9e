// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const (
	defaultReleaseInterval = 5 * time.Minute
	defaultReleaseTimeout  = 5 * time.Minute
	defaultMaxHistory      = 5
)

// planRelease lays the gateway's settings over the class's, leaf by leaf, and those over the defaults. Values come later.
func planRelease(gateway *v1alpha1.APIGateway, class *v1alpha1.APIGatewayClass) Release {
	own, base := deref(gateway.Spec.Release), deref(class.Spec.Release)
	target := text(gateway.Namespace, own.TargetNamespace)
	return Release{
		Name:               text(gateway.Name, own.Name),
		TargetNamespace:    target,
		StorageNamespace:   text(target, own.StorageNamespace),
		CreateNamespace:    value(false, own.CreateNamespace),
		Interval:           duration(defaultReleaseInterval, own.Interval, base.Interval),
		Timeout:            duration(defaultReleaseTimeout, own.Timeout, base.Timeout),
		MaxHistory:         int(value(defaultMaxHistory, own.MaxHistory, base.MaxHistory)),
		ServiceAccountName: text("", own.ServiceAccountName, base.ServiceAccountName),
		CRDs:               text(helmv2.CreateReplace, own.CRDs, base.CRDs),
		DriftDetection:     driftDetection(deref(own.DriftDetection), deref(base.DriftDetection)),
		TestEnabled:        value(false, deref(own.Test).Enable, deref(base.Test).Enable),
		DependsOn:          dependencies(own.DependsOn),
		ValuesFrom:         append([]meta.ValuesReference(nil), gateway.Spec.ValuesFrom...),
		Cluster:            ClusterOf(gateway),
		Patches:            patches(gateway.Spec.Patches),
	}
}

func driftDetection(own, base v1alpha1.DriftDetection) helmv2.DriftDetection {
	ignore := own.Ignore
	if len(ignore) == 0 {
		ignore = base.Ignore
	}
	drift := helmv2.DriftDetection{Mode: text(helmv2.DriftDetectionEnabled, own.Mode, base.Mode)}
	for i := range ignore {
		drift.Ignore = append(drift.Ignore, *ignore[i].DeepCopy())
	}
	return drift
}

func dependencies(refs []v1alpha1.GatewayRef) []string {
	var all []string
	for _, ref := range refs {
		all = append(all, ref.Name)
	}
	return all
}

// checkSettings refuses settings that Flux could not take, whoever gave them.
func checkSettings(field string, s v1alpha1.ReleaseSettings, wrong *faults) {
	checkDuration(field+".interval", s.Interval, wrong)
	checkDuration(field+".timeout", s.Timeout, wrong)
	checkNameIfSet(field+".serviceAccountName", text("", s.ServiceAccountName), wrong)
	if s.MaxHistory != nil && *s.MaxHistory < 0 {
		wrong.invalid(field+".maxHistory", "%d is less than 0; 0 keeps all revisions", *s.MaxHistory)
	}
	checkOneOf(field+".crds", s.CRDs, wrong, helmv2.Skip, helmv2.Create, helmv2.CreateReplace)
	if s.DriftDetection != nil {
		checkOneOf(field+".driftDetection.mode", s.DriftDetection.Mode, wrong,
			helmv2.DriftDetectionEnabled, helmv2.DriftDetectionWarn, helmv2.DriftDetectionDisabled)
		checkIgnore(field+".driftDetection.ignore", s.DriftDetection.Ignore, wrong)
	}
}

func checkIgnore(field string, rules []helmv2.IgnoreRule, wrong *faults) {
	for i, rule := range rules {
		if len(rule.Paths) == 0 {
			wrong.invalid(at(field, i)+".paths", "is empty; list JSON pointers, such as /spec/replicas")
		}
		if rule.Target != nil {
			kustomizeLock.Lock()
			checkSelectors(at(field, i)+".target", rule.Target, wrong)
			kustomizeLock.Unlock()
		}
		for j, pointer := range rule.Paths {
			if !isPointer(pointer) {
				wrong.invalid(at(at(field, i)+".paths", j),
					"%q is not a JSON pointer, such as /spec/replicas: it begins with /, and a ~ or / inside a key is written ~0 or ~1", pointer)
			}
		}
	}
}

// isPointer says whether text is a JSON pointer as in RFC 6901.
func isPointer(text string) bool {
	if text != "" && text[0] != '/' {
		return false
	}
	rest := strings.NewReplacer("~0", "", "~1", "").Replace(text)
	return !strings.Contains(rest, "~")
}

// checkHistory refuses to keep a single revision where a failed upgrade is to be rolled back.
func checkHistory(maxHistory int, strategy v1alpha1.RemediationStrategy, wrong *faults) {
	if maxHistory == 1 && strategy == v1alpha1.StrategyRollback {
		wrong.invalid("spec.release.maxHistory",
			"1 leaves Helm no revision to roll back to; with remediation.strategy Rollback keep at least 2, or 0 for all")
	}
}
