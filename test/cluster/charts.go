// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
)

// Chart is a chart in the cluster's registry.
type Chart struct {
	Name    string
	Version string
	URL     string // oci://host:port/charts/<name>, as an OCIRepository's spec.url (with insecure: true)
	Digest  string // of the manifest, sha256:…
}

// PushChart packages a copy of a chart's folder at a version and pushes it to oci://<registry>/charts. The edits are called on
// the copy before it is packaged, with its folder, and may change any file: Chart.yaml's appVersion, values.yaml, templates.
// The same version pushed again moves the tag.
func (c *Cluster) PushChart(ctx context.Context, chartDir, version string, edits ...func(dir string) error) (Chart, error) {
	return c.pushChart(ctx, destination{registry: c.registry}, chartDir, version, edits)
}

// destination is a registry, and the flags by which helm gets in.
type destination struct {
	registry string
	login    []string
}

func (c *Cluster) pushChart(ctx context.Context, to destination, chartDir, version string, edits []func(dir string) error) (Chart, error) {
	work, err := os.MkdirTemp(filepath.Join(c.dir, "tmp"), "chart-")
	if err != nil {
		return Chart{}, err
	}
	defer os.RemoveAll(work)
	source := filepath.Join(work, "source")
	if err := os.CopyFS(source, os.DirFS(chartDir)); err != nil {
		return Chart{}, fmt.Errorf("copy chart %s: %w", chartDir, err)
	}
	for _, edit := range edits {
		if err := edit(source); err != nil {
			return Chart{}, fmt.Errorf("edit chart %s: %w", chartDir, err)
		}
	}
	packages := filepath.Join(work, "package")
	if _, err := c.Helm(ctx, "package", source, "--version", version, "--destination", packages); err != nil {
		return Chart{}, err
	}
	return c.pushPackage(ctx, to, packages, version)
}

// pushPackage pushes the one package in a folder.
func (c *Cluster) pushPackage(ctx context.Context, to destination, folder, version string) (Chart, error) {
	packages, err := filepath.Glob(filepath.Join(folder, "*-"+version+".tgz"))
	if err != nil || len(packages) != 1 {
		return Chart{}, fmt.Errorf("helm package left %q in %s (%w)", packages, folder, err)
	}
	base := filepath.Base(packages[0])
	name := base[:len(base)-len("-"+version+".tgz")]
	repository := "oci://" + to.registry + "/charts"
	out, err := c.Helm(ctx, append([]string{"push", packages[0], repository, "--plain-http"}, to.login...)...)
	if err != nil {
		return Chart{}, err
	}
	digest := pushedDigest.FindString(out)
	if digest == "" {
		return Chart{}, fmt.Errorf("helm push named no digest:\n%s", out)
	}
	return Chart{Name: name, Version: version, URL: repository + "/" + name, Digest: digest}, nil
}

var pushedDigest = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// Tag lets one more tag of the cluster's registry point at a chart, also one that is no version, or moves it there.
func (c *Cluster) Tag(ctx context.Context, chart Chart, tag string) error {
	manifests := "http://" + c.registry + "/v2/charts/" + chart.Name + "/manifests/"
	manifest, err := exchange(ctx, http.MethodGet, manifests+chart.Digest, nil, http.StatusOK)
	if err != nil {
		return err
	}
	_, err = exchange(ctx, http.MethodPut, manifests+tag, manifest, http.StatusCreated)
	return err
}

// exchange returns the body of a registry's answer about a manifest.
func exchange(ctx context.Context, method, address string, body []byte, want int) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", manifestType)
	request.Header.Set("Content-Type", manifestType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != want {
		err = fmt.Errorf("%s %s: %s instead of %d: %s", method, address, response.Status, want, text)
	}
	return text, err
}
