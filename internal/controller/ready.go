// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// syncPatience is less than what a kubelet waits for a probe's answer.
const syncPatience = 500 * time.Millisecond

// synced is the readiness of a replica: it has read all that it watches. One that may not read something, or whose API server
// does not answer, never gets ready, so that a rollout with too few rights stops at its first pod. One that stands by is
// ready like the one that leads.
func synced(caches ...cache.Cache) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), syncPatience)
		defer cancel()
		for _, c := range caches {
			if !c.WaitForCacheSync(ctx) {
				return errors.New("not all that is watched has been read yet")
			}
		}
		return nil
	}
}
