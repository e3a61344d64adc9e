// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import "k8s.io/apimachinery/pkg/runtime"

// hyperShellKind is Gateway, of no API group or of one that begins with hypershell.
const hyperShellKind = "Gateway"

// hyperShellGateway is a manifest of HyperShell's command line: metadata and spec as Kubernetes has them. Its other form has
// the name and the fields of the spec at the top; it is brought into this one before it is read.
type hyperShellGateway struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Metadata   hyperShellMetadata `json:"metadata"`
	Spec       hyperShellSpec     `json:"spec"`
	// Status is the old control plane's.
	Status runtime.RawExtension `json:"status"`
}

type hyperShellMetadata struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Description string            `json:"description"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// hyperShellSpec has the API's names; the manifests' camel case is read as the same. The API writes oidc, route and
// credential_driver as text that holds JSON.
type hyperShellSpec struct {
	Image            string              `json:"image"`
	SupervisorImage  string              `json:"supervisor_image"`
	ServerDNSNames   []string            `json:"server_dns_names"`
	ExternalDNS      string              `json:"external_dns"`
	OIDC             *hyperShellOIDC     `json:"oidc"`
	Route            *hyperShellRoute    `json:"route"`
	Database         *hyperShellDatabase `json:"database"`
	CredentialDriver *hyperShellDriver   `json:"credential_driver"`
	ServiceType      string              `json:"service_type"`
	TLSMode          string              `json:"tls_mode"`

	// Where the gateway is, and what it belongs to.
	Namespace         string `json:"namespace"`
	Project           string `json:"project"`
	FleetID           string `json:"fleet_id"`
	ClusterID         string `json:"cluster_id"`
	ReleaseID         string `json:"release_id"`
	DatabaseID        string `json:"database_id"`
	ExternalReference string `json:"external_reference"`

	// What the control plane reports.
	ID                 string `json:"id"`
	Href               string `json:"href"`
	CreatedAt          string `json:"created_at"`
	UpdatedAt          string `json:"updated_at"`
	Status             string `json:"status"`
	Phase              string `json:"phase"`
	RouteAddress       string `json:"route_address"`
	ConsoleAddress     string `json:"console_address"`
	ActiveSandboxCount *int32 `json:"active_sandbox_count"`
}

type hyperShellOIDC struct {
	Issuer      string `json:"issuer"`
	Audience    string `json:"audience"`
	JwksTTL     *int32 `json:"jwks_ttl"`
	RolesClaim  string `json:"roles_claim"`
	AdminRole   string `json:"admin_role"`
	UserRole    string `json:"user_role"`
	ScopesClaim string `json:"scopes_claim"`
}

type hyperShellRoute struct {
	Host    string `json:"host"`
	Enabled *bool  `json:"enabled"`
}

type hyperShellDatabase struct {
	StorageSize       string `json:"storage_size"`
	Image             string `json:"image"`
	ExternalSecretRef string `json:"external_secret_ref"`
}

type hyperShellDriver struct {
	Type string `json:"type"`
}
