// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPrivateRegistryLetsInOneUserAlone(t *testing.T) {
	c := sharedCluster(t)
	registry, err := c.StartPrivateRegistry(t.Context(), "private")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Process("private").Stop()) })

	chart, err := registry.PushChart(t.Context(), "testdata/chart", "1.2.3")
	require.NoError(t, err)
	assert.Equal(t, Chart{Name: "small", Version: "1.2.3", URL: "oci://" + registry.Address + "/charts/small", Digest: chart.Digest}, chart)

	manifest := "http://" + registry.Address + "/v2/charts/small/manifests/1.2.3"
	assert.Equal(t, http.StatusOK, statusOf(t, manifest, registry.User, registry.Password))
	assert.Equal(t, http.StatusUnauthorized, statusOf(t, manifest, registry.User, "guessed"))
	assert.Equal(t, http.StatusUnauthorized, statusOf(t, manifest, "", ""))
}

func statusOf(t *testing.T, url, user, password string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "application/vnd.oci.image.manifest.v1+json")
	if user != "" {
		request.SetBasicAuth(user, password)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}
