// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/internal/migrate"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// oldKind is that of the resources of which a cluster has any; HyperShell keeps its own in a database.
var oldKind = schema.GroupKind{Group: migrate.WSO2Group, Kind: migrate.WSO2Kind}

// fromCluster is what migrate reads of a cluster.
type fromCluster struct {
	*cluster
	reader *render.Reader
	// secrets says that Helm's Secrets are read too.
	secrets bool
}

// readCluster adds the old gateways of the cluster, or of the namespace that -n names, to what the files hold, with the
// ConfigMaps of their namespaces and, for a check, Helm's Secrets there. It returns which APIs the cluster serves.
func readCluster(ctx context.Context, connection *connection, errs io.Writer, reader *render.Reader, secrets bool) (plan.APIs, error) {
	opened, err := connection.open(errs)
	if err != nil {
		return plan.APIs{}, err
	}
	config, err := connection.config()
	if err != nil {
		return plan.APIs{}, err
	}
	namespace := ""
	if *connection.flags.Namespace != "" {
		namespace = opened.namespace
	}
	if err := (fromCluster{opened, reader, secrets}).read(ctx, namespace); err != nil {
		return plan.APIs{}, err
	}
	asked, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return plan.APIs{}, err
	}
	return servedBy(asked)
}

func (f fromCluster) read(ctx context.Context, namespace string) error {
	mapping, err := f.RESTMapper().RESTMapping(oldKind)
	if apimeta.IsNoMatchError(err) {
		return fmt.Errorf("migrate: this cluster does not serve %s: choose another by --context, or read files with -f", oldKind)
	}
	if err != nil {
		return explained(err)
	}
	old := &unstructured.UnstructuredList{}
	old.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := f.List(ctx, old, client.InNamespace(namespace)); err != nil {
		return explained(err)
	}
	seen := map[string]bool{}
	for i := range old.Items {
		if err := f.add(&old.Items[i]); err != nil {
			return err
		}
		if in := old.Items[i].GetNamespace(); !seen[in] {
			seen[in] = true
			if err := f.beside(ctx, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// beside reads what belongs to the gateways of one namespace.
func (f fromCluster) beside(ctx context.Context, namespace string) error {
	configs := &corev1.ConfigMapList{}
	if err := f.List(ctx, configs, client.InNamespace(namespace)); err != nil {
		return explained(err)
	}
	for i := range configs.Items {
		configs.Items[i].TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
		if err := f.add(&configs.Items[i]); err != nil {
			return err
		}
	}
	if !f.secrets {
		return nil
	}
	secrets := &corev1.SecretList{}
	if err := f.List(ctx, secrets, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		return explained(err)
	}
	for i := range secrets.Items {
		secrets.Items[i].TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
		if err := f.add(&secrets.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f fromCluster) add(object any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	f.reader.AddObject("", data)
	return nil
}

// servedBy are the API versions that a cluster serves, and their kinds. Of those whose server does not answer nothing is known.
func servedBy(asked discovery.DiscoveryInterface) (plan.APIs, error) {
	_, lists, err := asked.ServerGroupsAndResources()
	failed := map[schema.GroupVersion]error{}
	if err != nil {
		if failed, _ = discovery.GroupDiscoveryFailedErrorGroups(err); len(failed) == 0 {
			return plan.APIs{}, explained(err)
		}
	}
	var served []string
	for _, list := range lists {
		served = append(served, list.GroupVersion)
		for _, resource := range list.APIResources {
			served = append(served, list.GroupVersion+"/"+resource.Kind)
		}
	}
	apis := plan.ServedAPIs(served)
	for version, why := range failed {
		apis = apis.Except(version.String(), why.Error())
	}
	return apis, nil
}
