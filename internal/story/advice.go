// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/acl"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Situations that have no reason of Ready.
const (
	// notSeen: the operator has not looked at the gateway's present generation.
	notSeen = "NotSeen"
	// waitsItsTurn: Pending, though the chart is there: something else goes first.
	waitsItsTurn = "WaitsItsTurn"
	// suspendedByHand: Suspended, but not by spec.suspend.
	suspendedByHand = "SuspendedByHand"
	// heldBySuspension: Deleting, while the HelmRelease is suspended.
	heldBySuspension = "HeldBySuspension"
	// heldByAccount: Deleting, while the ServiceAccount that Flux acts as is missing.
	heldByAccount = "HeldByAccount"
	// orphans: Deleting, and the release runs on.
	orphans = "Orphans"
	// gaveUp: Stalled, but attempts go on.
	gaveUp = "GaveUp"
	// noDependency: DependencyNotReady, of a name that no HelmRelease has, as none of a gateway that is refused.
	noDependency = "NoDependency"
	// drifted: the cluster is not as the release says.
	drifted = "Drifted"
)

// advices are what to do, by the reason of Ready or the situation. In {braces} stand the gateway's own names.
var advices = map[string]Advice{
	v1alpha1.ReasonInvalidSpec:        {"Correct the field that the message names, and commit.", "kubectl explain apigateway.spec"},
	v1alpha1.ReasonUnmappedField:      {"Remove the field, or have class {class} map it, and commit.", "kubectl get apigatewayclass {class} -o yaml"},
	v1alpha1.ReasonFieldConflict:      {"Set the path in one place only, and commit.", ""},
	v1alpha1.ReasonNotAllowed:         {"Remove the field, or have the policy of class {class} allow it, and commit.", "kubectl get apigatewayclass {class} -o yaml"},
	v1alpha1.ReasonClassNotFound:      {"Make the class, or name another in spec.className, and commit.", "kubectl get apigatewayclasses"},
	v1alpha1.ReasonClassNotAccepted:   {"Correct the class, and commit.", "kubectl get apigatewayclasses -o wide"},
	v1alpha1.ReasonConfigNotFound:     {"Commit ConfigMap {config} with the key values.yaml, or correct spec.configRef.", "kubectl get configmap {config} -n {namespace} -o yaml"},
	v1alpha1.ReasonInvalidConfig:      {"Correct values.yaml in ConfigMap {config}, and commit.", "kubectl get configmap {config} -n {namespace} -o yaml"},
	v1alpha1.ReasonCapabilityUnknown:  {"The API server does not say what it serves: mend the API service that does not answer.", "kubectl get apiservices"},
	v1alpha1.ReasonIssuerRequired:     {"Start the operator with --external-ca-issuer-name, or set spec.cluster.externalCAIssuerName for a remote cluster.", ""},
	v1alpha1.ReasonConflict:           {"Choose another name: the one in use belongs to somebody else.", "kubectl get apigateways.gateway.sluice.dev,helmreleases -A"},
	v1alpha1.ReasonOtherController:    {"Run an operator with the controller name of class {class}, or name a class of one that runs.", "kubectl get apigatewayclasses -o wide"},
	v1alpha1.ReasonPending:            {"Wait for the chart; if that takes long, look at the source.", "flux get sources oci -n {sourcenamespace}"},
	v1alpha1.ReasonProgressing:        {"Wait: Flux is at work.", "{sluice} tree {name} -n {namespace} --watch"},
	v1alpha1.ReasonRolledBack:         {"Correct the cause and commit: that is tried at once. To try the same state again now:", "{sluice} reconcile {name} -n {namespace} --force --wait"},
	v1alpha1.ReasonSuspended:          {"Set spec.suspend to false in git, or resume it here.", "{sluice} resume {name} -n {namespace}"},
	v1alpha1.ReasonChartDigestIgnored: {"Turn off helm-controller's feature gate DisableChartDigestTracking, or give the chart another version.", ""},
	v1alpha1.ReasonWriteFailed:        {"Correct what the API server refused, and commit; Sluice tries again by itself.", ""},
	v1alpha1.ReasonDeleting:           {"Wait: Flux uninstalls the release.", "kubectl get helmrelease {name} -n {namespace} -o wide"},

	notSeen:          {"If this lasts longer than a few seconds, see whether the operator runs, and whether its --watch-label-selector, if it has one, matches this gateway.", "kubectl get pods -A -l app.kubernetes.io/name=sluice"},
	waitsItsTurn:     {"Wait: it goes on by itself once what the message names is done or gone.", "kubectl get apigateways.gateway.sluice.dev,helmreleases -A"},
	suspendedByHand:  {"Somebody suspended the HelmRelease; resume it when that person agrees.", "flux resume helmrelease {name} -n {namespace}"},
	heldBySuspension: {"Resume the HelmRelease: Flux does not uninstall what is suspended.", "flux resume helmrelease {name} -n {namespace}"},
	heldByAccount:    {"Make the ServiceAccount again, with its rights: Flux does not uninstall without it.", "kubectl create serviceaccount {account} -n {namespace}"},
	orphans:          {"Wait: the HelmRelease goes, and the release runs on.", "kubectl get helmrelease {name} -n {namespace} -o wide"},
	gaveUp:           {"Correct the cause and commit. To clear Flux's count of failures and try the same state again now:", "{sluice} reconcile {name} -n {namespace} --reset --force --wait"},
	noDependency:     {"There is no HelmRelease of that name: correct spec.release.dependsOn and commit, or see why the gateway that it names has none.", "{sluice} get -n {namespace}"},
	drifted:          {"Flux corrects the difference at its next look. To have it look now:", "{sluice} reconcile {name} -n {namespace}"},

	helmv2.InstallFailedReason:             {"Correct the cause and commit: that is tried at once. To try the same state again now:", "{sluice} reconcile {name} -n {namespace} --force --wait"},
	helmv2.UpgradeFailedReason:             {"Correct the cause and commit: that is tried at once. To try the same state again now:", "{sluice} reconcile {name} -n {namespace} --force --wait"},
	helmv2.TestFailedReason:                {"See why the chart's test failed, correct that, and commit.", "kubectl get pods -n {target}"},
	helmv2.RollbackFailedReason:            {"Correct the cause and commit; the release is neither the old one nor the new one.", "helm history {release} -n {storage}"},
	helmv2.UninstallFailedReason:           {"Remove what keeps the release from being uninstalled; Flux tries again by itself.", "flux logs --kind HelmRelease --name {name} -n {namespace}"},
	helmv2.UninstallSucceededReason:        {"Correct the cause and commit: the release was uninstalled, and is installed anew.", ""},
	helmv2.ArtifactFailedReason:            {"See whether the chart is a Helm chart, and whether source-controller answers.", "flux get sources oci -n {sourcenamespace}"},
	helmv2.DependencyNotReadyReason:        {"Look at the gateway that spec.release.dependsOn names: it is not ready.", "{sluice} get -n {namespace}"},
	meta.InvalidCELExpressionReason:        {"Correct the expression that the message names, and commit.", ""},
	acl.AccessDeniedReason:                 {"The source lies in a namespace that Flux may not read from here: see its accessFrom.", ""},
	sourcev1.OCIPullFailedReason:           {"Push the chart, or correct its tag, URL or credentials, and commit. To look at the registry again now:", "flux reconcile source oci {source} -n {sourcenamespace}"},
	sourcev1.AuthenticationFailedReason:    {"Correct the registry's credentials.", "kubectl get ocirepository {source} -n {sourcenamespace} -o yaml"},
	sourcev1.VerificationError:             {"The chart's signature is not as the class demands: sign the chart, or correct the class.", "kubectl get apigatewayclass {class} -o yaml"},
	sourcev1.OCILayerOperationFailedReason: {"The artifact is no Helm chart: correct the URL or the tag, and commit.", ""},
	sourcev1.URLInvalidReason:              {"Correct the URL in class {class}, and commit.", "kubectl get apigatewayclass {class} -o yaml"},
	"SourceNotReady":                       {"Look at the source: Flux waits for it.", "flux get sources oci -n {sourcenamespace}"},
	"ValuesError":                          {"Correct spec.valuesFrom or what it names, and commit.", "kubectl get secrets,configmaps -n {namespace}"},
	"RESTClientError":                      {"See whether the ServiceAccount or kubeconfig that the release uses exists and has its rights.", "kubectl get helmrelease {name} -n {namespace} -o yaml"},
}

// elsewhere is for reasons that the table does not have.
var elsewhere = Advice{"Correct what the message tells; helm-controller's log may tell more.", "flux logs --kind HelmRelease --name {name} -n {namespace}"}

// podAdvices are what to do about a pod, by the reason of its problem.
var podAdvices = map[string]Advice{
	"ImagePullBackOff":           {"Correct the image's name or tag, or the credentials of its registry.", "kubectl describe pod {pod} -n {podnamespace}"},
	"ErrImagePull":               {"Correct the image's name or tag, or the credentials of its registry.", "kubectl describe pod {pod} -n {podnamespace}"},
	"InvalidImageName":           {"Correct the image's name.", "kubectl describe pod {pod} -n {podnamespace}"},
	"CrashLoopBackOff":           {"See what the container said before it ended.", "kubectl logs {pod} -c {container} -n {podnamespace} --previous"},
	"Error":                      {"See what the container said before it ended.", "kubectl logs {pod} -c {container} -n {podnamespace}"},
	"CreateContainerConfigError": {"Make the Secret or ConfigMap that the message names.", "kubectl describe pod {pod} -n {podnamespace}"},
	"CreateContainerError":       {"Correct what the container is started with.", "kubectl describe pod {pod} -n {podnamespace}"},
	"Unschedulable":              {"Free or add room on the nodes, or correct requests, nodeSelector, tolerations or affinity.", "kubectl describe pod {pod} -n {podnamespace}"},
	"Evicted":                    {"See which resource the node ran out of.", "kubectl describe pod {pod} -n {podnamespace}"},
	"Terminating":                {"See what keeps the pod from ending: a finalizer, or a node that does not answer.", "kubectl get pod {pod} -n {podnamespace} -o yaml"},
	reasonOOMKilled:              {"Raise the container's memory limit, as by spec.infrastructure.resources.", "kubectl describe pod {pod} -n {podnamespace}"},
	reasonNotReady:               {"See why the pod does not get ready.", "kubectl describe pod {pod} -n {podnamespace}"},
}

// names are what stands for the words in braces.
func names(in Input) *strings.Replacer {
	g := in.Gateway
	class, config, source, sourceNamespace := g.Status.ClassName, "", "", g.Namespace
	if g.Spec.ClassName != nil && *g.Spec.ClassName != "" {
		class = *g.Spec.ClassName
	}
	if g.Spec.ConfigRef != nil {
		config = g.Spec.ConfigRef.Name
	}
	if s := g.Status.Source; s != nil {
		source, sourceNamespace = s.Name, s.Namespace
	}
	target, release, storage, account := g.Namespace, g.Name, g.Namespace, ""
	if in.Release != nil {
		target, release, storage = in.Release.GetReleaseNamespace(), in.Release.GetReleaseName(), in.Release.GetStorageNamespace()
		account = in.Release.Spec.ServiceAccountName
	}
	return strings.NewReplacer("{sluice}", in.Program, "{name}", g.Name, "{namespace}", g.Namespace, "{class}", class,
		"{config}", config, "{source}", source, "{sourcenamespace}", sourceNamespace,
		"{target}", target, "{release}", release, "{storage}", storage, "{account}", account)
}

func (a Advice) with(names *strings.Replacer) Advice {
	return Advice{Text: names.Replace(a.Text), Command: names.Replace(a.Command)}
}

// aboutGateway is nil when there is nothing to do.
func aboutGateway(situation string, in Input) *Advice {
	if situation == "" || situation == v1alpha1.ReasonReady {
		return nil
	}
	a, known := advices[situation]
	if !known {
		a = elsewhere
	}
	a = a.with(names(in))
	return &a
}

// aboutPods is advice on each kind of problem, once.
func aboutPods(pods []Pod) []Advice {
	var all []Advice
	given := map[string]bool{}
	for _, pod := range pods {
		problem := pod.Problems[0]
		reason := problem.Reason
		if problem.OOMKilled {
			reason = reasonOOMKilled
		}
		a, known := podAdvices[reason]
		if !known || given[a.Text] {
			continue
		}
		given[a.Text] = true
		all = append(all, a.with(strings.NewReplacer("{pod}", pod.Name, "{podnamespace}", pod.Namespace, "{container}", problem.Container)))
	}
	return all
}
