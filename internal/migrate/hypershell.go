// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/internal/render"
)

const (
	// hyperShellDatabaseSecret is what the control plane makes beside every gateway.
	hyperShellDatabaseSecret = "openshell-gateway-db-credentials"
	// hyperShellTrustedCA is the ConfigMap that the control plane copies to a gateway where there is one.
	hyperShellTrustedCA = "gateway-trusted-ca"
)

func (m *migration) convertHyperShell(in render.Input) {
	if problems := unify(in); len(problems) > 0 {
		m.problems = append(m.problems, problems...)
		return
	}
	old := hyperShellGateway{}
	if faults := in.Decode(&old); len(faults) > 0 {
		m.problems = append(m.problems, faults...)
		return
	}
	class := m.class(in, m.options.OpenShellClass, "--openshell-class")
	namespace := cmp.Or(old.Metadata.Namespace, old.Spec.Namespace, old.Spec.Project)
	if class == nil || !m.checkNames(in, old.Metadata.Name, namespace) {
		return
	}
	g := m.newGateway(in, types.NamespacedName{Namespace: namespace, Name: old.Metadata.Name}, class)
	g.moveMarks(old.Metadata.Labels, old.Metadata.Annotations)
	g.moveHyperShell(old)
	if _, copied := m.configs[types.NamespacedName{Namespace: namespace, Name: hyperShellTrustedCA}]; copied && deref(old.Spec.OIDC).Issuer != "" {
		g.put("trustedCARef.name", "", hyperShellTrustedCA)
	}
	m.nameRelease(g, hyperShellReleaseName)
	g.fit(m.options.Environment)
	m.finish(g)
}

// moveHyperShell puts each field where it belongs, or says why it has no place. What the control plane gave every gateway
// and the chart has otherwise goes into the values.
func (g *gateway) moveHyperShell(old hyperShellGateway) {
	spec := old.Spec
	g.put("className", "", g.class.Name)
	g.ignored("metadata.description", old.Metadata.Description, "an APIGateway has no description; an annotation may hold it")
	g.moveHyperShellImage("gateway", "spec.image", spec.Image)
	g.moveHyperShellImage("supervisor", "spec.supervisor_image", spec.SupervisorImage)
	g.put("values.networkPolicy.enabled", "", false)
	g.put("values.pkiInitJob.serverDnsNames", "spec.server_dns_names", tree(spec.ServerDNSNames))
	g.moveRoute(deref(spec.Route), spec.ExternalDNS)
	g.moveOIDC(deref(spec.OIDC))
	g.moveDatabase(deref(spec.Database))
	g.moveDriver(deref(spec.CredentialDriver).Type)
	g.putNew("exposure.serviceType", "spec.service_type", spec.ServiceType)
	g.ignored("spec.tls_mode", spec.TLSMode, "the control plane handed it to no value of the chart, which always serves TLS")
	g.ignored("spec.cluster_id", spec.ClusterID, "apply the gateway to that cluster, or name the cluster's kubeconfig in spec.cluster.kubeConfig")
	g.ignored("spec.release_id", spec.ReleaseID, "a class has the chart's version; the images of that release belong into spec.infrastructure.images")
	const placement = "it is of the control plane's inventory"
	g.ignored("spec.fleet_id", spec.FleetID, placement)
	g.ignored("spec.database_id", spec.DatabaseID, placement)
	g.ignored("spec.external_reference", spec.ExternalReference, placement)
	if spec.Namespace != g.name.Namespace {
		g.ignored("spec.namespace", spec.Namespace, "metadata.namespace goes before it")
	}
	if spec.Project != g.name.Namespace {
		g.ignored("spec.project", spec.Project, placement)
	}
	const report = "it is a report of the control plane"
	g.ignored("spec.id", spec.ID, report)
	g.ignored("spec.href", spec.Href, report)
	g.ignored("spec.created_at", spec.CreatedAt, report)
	g.ignored("spec.updated_at", spec.UpdatedAt, report)
	g.ignored("spec.status", spec.Status, report)
	g.ignored("spec.phase", spec.Phase, report)
	g.ignored("spec.route_address", spec.RouteAddress, report)
	g.ignored("spec.console_address", spec.ConsoleAddress, report)
	g.ignored("spec.active_sandbox_count", number(spec.ActiveSandboxCount), report)
}

// moveHyperShellImage takes an image as the control plane did: without its digest, and latest where it has no tag.
func (g *gateway) moveHyperShellImage(name, field, image string) {
	if image == "" {
		return
	}
	repository, digest, pinned := strings.Cut(image, "@")
	if pinned {
		g.warning(field, "is moved without its digest, as the control plane installed it: the chart has no value for "+digest)
	}
	if strings.LastIndex(repository, ":") <= strings.LastIndex(repository, "/") {
		g.warning(field, "is moved with the tag latest, as the control plane installed it: name a tag")
		repository += ":latest"
	}
	g.put("infrastructure.images."+name, field, repository)
}

func (g *gateway) moveRoute(route hyperShellRoute, externalDNS string) {
	host, from := route.Host, "spec.route.host"
	switch {
	case host == "":
		host, from = externalDNS, "spec.external_dns"
	case externalDNS != host:
		g.ignored("spec.external_dns", externalDNS, "spec.route.host goes before it")
	}
	if host != "" {
		g.put("exposure.hostnames", from, []any{host})
		g.put("values.openshiftRoute.host", from, host)
	}
	switch {
	case route.Enabled == nil:
	case !*route.Enabled:
		g.put("values.grpcRoute.enabled", "spec.route.enabled", false)
		g.put("values.openshiftRoute.enabled", "spec.route.enabled", false)
	default:
		g.warning("spec.route.enabled", "is moved to nothing of its own: the operator's --exposure-mode turns routes on")
		if host == "" {
			g.warning("spec.route.host", "is missing: the control plane called it gw-"+g.name.Namespace+
				".<base domain>; set it as spec.exposure.hostnames and spec.values.openshiftRoute.host")
		}
	}
}

func (g *gateway) moveOIDC(oidc hyperShellOIDC) {
	for _, f := range []struct {
		value, old string
		set        any
	}{
		{"issuer", "issuer", oidc.Issuer},
		{"audience", "audience", oidc.Audience},
		{"rolesClaim", "roles_claim", oidc.RolesClaim},
		{"adminRole", "admin_role", oidc.AdminRole},
		{"userRole", "user_role", oidc.UserRole},
		{"scopesClaim", "scopes_claim", oidc.ScopesClaim},
	} {
		g.put("values.server.oidc."+f.value, "spec.oidc."+f.old, f.set)
	}
	if oidc.JwksTTL != nil {
		g.put("values.server.oidc.jwksTtl", "spec.oidc.jwks_ttl", number(oidc.JwksTTL))
		g.warning("spec.oidc.jwks_ttl", "acts from now on, at server.oidc.jwksTtl: the control plane did not hand it to the chart")
	}
}

// moveDatabase names the Secret that the chart reads the database's address from.
func (g *gateway) moveDatabase(database hyperShellDatabase) {
	const beside = "the database is beside the gateway, and runs on as it is; Sluice makes none"
	g.ignored("spec.database.storage_size", database.StorageSize, beside)
	g.ignored("spec.database.image", database.Image, beside)
	if database.ExternalSecretRef == "" {
		g.put("storage.connectionSecretRef.name", "", hyperShellDatabaseSecret)
		return
	}
	g.put("storage.connectionSecretRef.name", "spec.database.external_secret_ref", database.ExternalSecretRef)
	g.warning("spec.database.external_secret_ref", "is moved, but the chart reads the key uri of that Secret, where the manifests speak of url: see that it has uri")
}

func (g *gateway) moveDriver(kind string) {
	switch kind {
	case "":
	case "kubernetes-secrets":
		g.put("values.server.credentialDrivers.kubernetesSecrets.enabled", "spec.credential_driver.type", true)
	case "vault":
		g.put("values.server.credentialDrivers.vault.enabled", "spec.credential_driver.type", true)
		g.warning("spec.credential_driver.type", "is moved, but where Vault is was told to the control plane alone: set spec.values.server.credentialDrivers.vault")
	default:
		g.ignored("spec.credential_driver.type", kind, "the chart knows kubernetes-secrets and vault")
	}
}
