// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// fieldManager of what people change by this command. kustomize-controller undoes what managers named kubectl change.
const fieldManager = "sluice-cli"

// connection is how a command finds its cluster: by kubectl's flags and kubeconfig. Nothing is read before open.
type connection struct {
	flags *genericclioptions.ConfigFlags
}

// usages are shorter than kubectl's own, and of one voice with the other flags'.
var usages = map[string]string{
	"as":                       "act as this user",
	"as-group":                 "act as one of this group; may be repeated",
	"as-uid":                   "act as the user with this UID",
	"as-user-extra":            "act with this extra field of a user, as KEY=VALUE; may be repeated",
	"cache-dir":                "folder for what is remembered of the cluster's API",
	"certificate-authority":    "file with the certificate of the API server's authority",
	"client-certificate":       "file with a client certificate",
	"client-key":               "file with the key of --client-certificate",
	"cluster":                  "cluster of the kubeconfig",
	"context":                  "context of the kubeconfig",
	"disable-compression":      "do not ask the API server for compressed answers",
	"insecure-skip-tls-verify": "do not verify the API server's certificate",
	"kubeconfig":               "kubeconfig file",
	"namespace":                "namespace of the gateway",
	"request-timeout":          "how long one request may take, as in 10s; 0 is for ever",
	"server":                   "address of the API server, as in https://host:6443",
	"tls-server-name":          "name that the API server's certificate must have, if not the host's",
	"token":                    "bearer token for the API server",
	"user":                     "user of the kubeconfig",
}

// connect gives a command kubectl's flags.
func connect(cmd *cobra.Command) *connection {
	c := &connection{flags: genericclioptions.NewConfigFlags(true)}
	c.flags.AddFlags(cmd.Flags())
	for name, usage := range usages {
		cmd.Flags().Lookup(name).Usage = usage
	}
	cmd.Flags().Lookup("cache-dir").DefValue = "$HOME/.kube/cache" // help is the same for everybody
	completeConnection(cmd, c)
	return c
}

// cluster is an open connection.
type cluster struct {
	client.WithWatch
	// namespace that -n or the kubeconfig names.
	namespace string
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, helmv2.AddToScheme, sourcev1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// open makes the client. Warnings of the API server go to w.
func (c *connection) open(w io.Writer) (*cluster, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	// A release has many objects, which are read one by one; these are kubectl's own limits.
	config.QPS, config.Burst = 50, 300
	config.WarningHandler = rest.NewWarningWriter(w, rest.WarningWriterOptions{Deduplicate: true})
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	namespace, _, err := c.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	made, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, explained(err)
	}
	return &cluster{WithWatch: made, namespace: namespace}, nil
}

// noCluster names where it was looked for: client-go passes over files of KUBECONFIG that do not exist.
func (c *connection) noCluster() error {
	const file = "name a file that exists and has a context, or pass --server"
	if *c.flags.KubeConfig != "" {
		return fmt.Errorf("no cluster is configured by --kubeconfig %s: %s", *c.flags.KubeConfig, file)
	}
	if files := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); files != "" {
		return fmt.Errorf("no cluster is configured by KUBECONFIG=%s: %s", files, file)
	}
	return errors.New("no cluster is configured: set KUBECONFIG, or pass --kubeconfig or --server")
}

// config says what is wrong with the flags and a kubeconfig before it says what is wrong with the cluster that nobody named.
func (c *connection) config() (*rest.Config, error) {
	if timeout, err := clientcmd.ParseTimeout(*c.flags.Timeout); err != nil || timeout < 0 {
		return nil, fmt.Errorf("--request-timeout %q: must be a number of seconds, or a time as 10s or 2m; 0 is for ever", *c.flags.Timeout)
	}
	raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	wanted := *c.flags.Context
	if wanted == "" {
		wanted = raw.CurrentContext
	}
	switch _, exists := raw.Contexts[wanted]; {
	case *c.flags.APIServer != "" || exists || inCluster():
	case len(raw.Contexts) == 0:
		return nil, c.noCluster()
	case wanted == "":
		return nil, fmt.Errorf("kubeconfig: no context is chosen: pass --context with one of %s", contexts(raw.Contexts))
	default:
		return nil, fmt.Errorf("kubeconfig: there is no context %s; there are: %s", wanted, contexts(raw.Contexts))
	}
	config, err := c.flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return config, nil
}

func inCluster() bool {
	_, err := rest.InClusterConfig()
	return err == nil
}

func contexts[T any](all map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// explained makes of a client's error one that says what to do.
func explained(err error) error {
	unreachable, isUnreachable := errors.AsType[*url.Error](err)
	switch {
	case err == nil:
		return nil
	case apimeta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return fmt.Errorf("this cluster does not serve APIGateways (%s): install Sluice, or choose another cluster by --context",
			v1alpha1.GroupVersion)
	case apierrors.IsUnauthorized(err):
		return errors.New("the cluster does not accept these credentials: log in again, or choose others by --context or --user")
	case isUnreachable:
		return fmt.Errorf("cannot reach the cluster at %s: %w", host(unreachable.URL), unreachable.Err)
	}
	return err
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Scheme + "://" + u.Host
}
