// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestLeanRelease(t *testing.T) {
	for _, watched := range [][]schema.GroupVersionKind{nil, {{Group: "apps", Version: "v1", Kind: "Deployment"}}} {
		hr := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: "web", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "sluice"}}}}
		hr.Status.Inventory = &helmv2.ResourceInventory{Entries: []helmv2.ResourceRef{{ID: "apis_web_apps_Deployment"}}}
		if _, err := (Options{WatchChildren: watched}).leanRelease(hr); err != nil {
			t.Fatal(err)
		}
		if hr.Name != "web" || hr.ManagedFields != nil || (hr.Status.Inventory != nil) != (watched != nil) {
			t.Errorf("watching %v: %+v", watched, hr)
		}
	}
}
