// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// identity is a user whom the API server knows by a fixed token.
type identity struct {
	user, group string
	token       string
}

const (
	admin      = "admin"
	everything = "system:masters"
)

// newIdentities makes one user for the administrator and one for each component that talks to the API server. Flux's
// controllers go by the names of their ServiceAccounts, so that the audit log reads as in a real cluster; unlike there,
// source-controller may do everything too.
func newIdentities() map[string]identity {
	known := map[string]identity{
		admin:             {user: "admin", group: everything},
		ControllerManager: {user: "system:kube-controller-manager"},
		Scheduler:         {user: "system:kube-scheduler"},
		Kwok:              {user: "kwok", group: everything},
	}
	for _, name := range []string{SourceController, KustomizeController, HelmController} {
		known[name] = identity{user: "system:serviceaccount:" + FluxNamespace + ":" + name, group: everything}
	}
	for name, who := range known {
		who.token = rand.Text()
		known[name] = who
	}
	return known
}

// writeTokens writes the API server's --token-auth-file.
func writeTokens(file string, known map[string]identity) error {
	var text strings.Builder
	for _, who := range known {
		fmt.Fprintf(&text, "%s,%s,%s,%s\n", who.token, who.user, who.user, who.group)
	}
	return os.WriteFile(file, []byte(text.String()), 0o600)
}

// writeKubeconfig writes a kubeconfig that holds all it needs, also the certificate authority. Nobody ever reads half of it:
// programs that start at the same time may share one.
func writeKubeconfig(file, server, authorityFile, user, token string) error {
	authority, err := os.ReadFile(authorityFile)
	if err != nil {
		return err
	}
	const name = "sluice"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	config.CurrentContext = name
	half := file + "." + rand.Text()
	if err := clientcmd.WriteToFile(*config, half); err != nil {
		return err
	}
	return os.Rename(half, file)
}

// KubeconfigFor writes a kubeconfig that acts as a ServiceAccount, with a token for a day, and returns its path. The
// ServiceAccount must exist. A program that runs with it may do exactly what RBAC grants to that ServiceAccount.
func (c *Cluster) KubeconfigFor(ctx context.Context, namespace, serviceAccount string) (string, error) {
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return "", err
	}
	day := int64(24 * 60 * 60)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day}}
	made, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, serviceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token for ServiceAccount %s/%s: %w", namespace, serviceAccount, err)
	}
	file := filepath.Join(c.dir, "kubeconfigs", namespace+"."+serviceAccount+".yaml")
	return file, writeKubeconfig(file, c.restConfig.Host, c.authorityFile(), serviceAccount, made.Status.Token)
}
