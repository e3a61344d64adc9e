// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// configs reads the ConfigMaps that gateways refer to, and only those: the cache holds names and versions, and a ConfigMap
// is read from the API server once for each version.
type configs struct {
	versions client.Reader // the cache, metadata alone
	live     client.Reader
	known    sync.Map // types.NamespacedName -> *corev1.ConfigMap
}

// read returns the ConfigMap, nil when there is none. What the cache does not know is looked for in the API server, since a
// ConfigMap and its gateway are often made at the same moment.
func (c *configs) read(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	version, err := c.version(ctx, name)
	if err != nil {
		return nil, err
	}
	if known, ok := c.known.Load(name); ok && known.(*corev1.ConfigMap).ResourceVersion == version {
		return known.(*corev1.ConfigMap), nil
	}
	config := &corev1.ConfigMap{}
	found, err := exists(c.live.Get(ctx, name, config))
	if err != nil || !found {
		c.known.Delete(name)
		return nil, err
	}
	config.ManagedFields = nil
	c.known.Store(name, config)
	return config, nil
}

// version is empty when there is no such ConfigMap.
func (c *configs) version(ctx context.Context, name types.NamespacedName) (string, error) {
	entry := configMapMetadata()
	_, err := exists(c.versions.Get(ctx, name, entry))
	return entry.ResourceVersion, err
}

func configMapMetadata() *metav1.PartialObjectMetadata {
	entry := &metav1.PartialObjectMetadata{}
	entry.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	return entry
}
