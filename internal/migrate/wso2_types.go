// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// WSO2Group is the API group of WSO2's gateway operator; its versions v1alpha1 and v1 have the same fields.
	WSO2Group = "gateway.api-platform.wso2.com"
	// WSO2Kind of its gateways.
	WSO2Kind = "APIGateway"
)

// wso2Gateway is an APIGateway of WSO2's operator.
type wso2Gateway struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec wso2Spec `json:"spec"`
	// Status is the old operator's.
	Status runtime.RawExtension `json:"status"`
}

type wso2Spec struct {
	// GatewayClassName is in v1alpha1 alone.
	GatewayClassName string              `json:"gatewayClassName"`
	APISelector      *wso2Selector       `json:"apiSelector"`
	Infrastructure   *wso2Infrastructure `json:"infrastructure"`
	ControlPlane     *wso2ControlPlane   `json:"controlPlane"`
	Storage          *wso2Storage        `json:"storage"`
	ConfigRef        *wso2Config         `json:"configRef"`
}

type wso2Selector struct {
	Scope            string                            `json:"scope"`
	Namespaces       []string                          `json:"namespaces"`
	MatchLabels      map[string]string                 `json:"matchLabels"`
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions"`
}

type wso2Infrastructure struct {
	Replicas     *int32                       `json:"replicas"`
	Resources    *corev1.ResourceRequirements `json:"resources"`
	Image        string                       `json:"image"`
	RouterImage  string                       `json:"routerImage"`
	NodeSelector map[string]string            `json:"nodeSelector"`
	Tolerations  []corev1.Toleration          `json:"tolerations"`
	Affinity     *corev1.Affinity             `json:"affinity"`
	Labels       map[string]string            `json:"labels"`
	Annotations  map[string]string            `json:"annotations"`
}

type wso2ControlPlane struct {
	Host           string   `json:"host"`
	TokenSecretRef *wso2Key `json:"tokenSecretRef"`
	TLS            *wso2TLS `json:"tls"`
}

type wso2TLS struct {
	Enabled       *bool    `json:"enabled"`
	CertSecretRef *wso2Key `json:"certSecretRef"`
}

type wso2Storage struct {
	Type                string   `json:"type"`
	SQLitePath          string   `json:"sqlitePath"`
	ConnectionSecretRef *wso2Key `json:"connectionSecretRef"`
}

type wso2Key struct {
	Name     string `json:"name"`
	Key      string `json:"key"`
	Optional *bool  `json:"optional"`
}

type wso2Config struct {
	Name string `json:"name"`
}
