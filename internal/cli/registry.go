// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/spf13/pflag"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/chart"
	"github.com/sluice-gateway/sluice/internal/lint"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// registryFlags say how registries are talked to.
type registryFlags struct {
	plainHTTP bool
	insecure  bool
}

func (r *registryFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&r.plainHTTP, "plain-http", false, "talk to registries by HTTP, as to those of classes with insecure: true")
	f.BoolVar(&r.insecure, "insecure-skip-tls-verify", false, "do not verify the certificates of registries")
}

const (
	chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	// pullTimeout is that of one chart.
	pullTimeout = time.Minute
	maxManifest = 4 << 20
)

// pullMissing pulls the charts of classes that have none yet, and those of gateways that want another version.
func pullMissing(ctx context.Context, flags registryFlags, in lint.Input, charts lint.Charts) error {
	p := puller{registryFlags: flags, pulled: map[string]*chart.Chart{}}
	for _, class := range in.Set.Classes() {
		if charts.OfClasses[class.Name] != nil || len(plan.ClassFaults(&class)) > 0 {
			continue // what is wrong with a class is said without its chart
		}
		c, err := p.wanted(ctx, class.Spec.Chart.URL, referenceOf(class.Spec.Chart.Ref), class.Spec.Chart.Insecure)
		if err != nil {
			return err
		}
		charts.OfClasses[class.Name] = c
	}
	for planned := range in.Set.Plans(in.Options) {
		spec := planned.Plan.Source.Spec
		if planned.Gateway.Spec.Chart == nil || spec.Reference == nil {
			continue
		}
		c, err := p.wanted(ctx, spec.URL, *spec.Reference, &spec.Insecure)
		if err != nil {
			return err
		}
		charts.OfGateways[planned.Plan.Gateway] = c
	}
	return nil
}

func referenceOf(ref v1alpha1.ChartRef) sourcev1.OCIRepositoryRef {
	return sourcev1.OCIRepositoryRef{Tag: text(ref.Tag), SemVer: text(ref.Semver), Digest: text(ref.Digest), SemverFilter: text(ref.SemverFilter)}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// puller remembers what it pulled.
type puller struct {
	registryFlags
	pulled map[string]*chart.Chart
}

func (p puller) wanted(ctx context.Context, url string, ref sourcev1.OCIRepositoryRef, insecure *bool) (*chart.Chart, error) {
	plainHTTP := p.plainHTTP || insecure != nil && *insecure
	key := fmt.Sprint(url, ref, plainHTTP)
	if c := p.pulled[key]; c != nil {
		return c, nil
	}
	address, err := p.resolve(ctx, url, ref, plainHTTP)
	if err != nil {
		return nil, err
	}
	c, err := p.pullChart(ctx, address, plainHTTP)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	p.pulled[key] = c
	return c, nil
}

// resolve is the address with the tag or digest that Flux would take.
func (r registryFlags) resolve(ctx context.Context, url string, ref sourcev1.OCIRepositoryRef, plainHTTP bool) (string, error) {
	switch {
	case ref.Digest != "":
		return url + "@" + ref.Digest, nil
	case ref.SemVer == "":
		return url + ":" + ref.Tag, nil
	}
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	repository, err := r.repository(url, plainHTTP)
	if err != nil {
		return "", fmt.Errorf("%s: %w", url, err)
	}
	var tags []string
	err = repository.Tags(ctx, "", func(page []string) error {
		tags = append(tags, page...)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", url, explainedPull(err, repository))
	}
	newest, err := newestTag(tags, ref)
	if err != nil {
		return "", fmt.Errorf("%s: %w", url, err)
	}
	return url + ":" + newest, nil
}

// newestTag is the highest version within the range, as source-controller chooses it: tags are strict versions, a v before
// them aside.
func newestTag(tags []string, ref sourcev1.OCIRepositoryRef) (string, error) {
	wanted, err := semver.NewConstraint(ref.SemVer)
	if err != nil {
		return "", err
	}
	filter, err := regexp.Compile(ref.SemverFilter)
	if err != nil {
		return "", err
	}
	best, newest := "", (*semver.Version)(nil)
	for _, tag := range tags {
		v, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v"))
		if err != nil || !filter.MatchString(tag) || !wanted.Check(v) {
			continue
		}
		if newest == nil || v.GreaterThan(newest) {
			best, newest = tag, v
		}
	}
	if newest == nil {
		return "", fmt.Errorf("none of its %d tags is within %s", len(tags), ref.SemVer)
	}
	return best, nil
}

// pullChart pulls what Helm pushed.
func (r registryFlags) pullChart(ctx context.Context, address string, plainHTTP bool) (*chart.Chart, error) {
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	repository, err := r.repository(address, plainHTTP)
	if err != nil {
		return nil, err
	}
	layer, err := chartLayerOf(ctx, repository)
	if err != nil {
		return nil, explainedPull(err, repository)
	}
	data, err := content.FetchAll(ctx, repository.Blobs(), layer)
	if err != nil {
		return nil, explainedPull(err, repository)
	}
	return chart.FromArchive(bytes.NewReader(data))
}

func (r registryFlags) repository(address string, plainHTTP bool) (*remote.Repository, error) {
	repository, err := remote.NewRepository(strings.TrimPrefix(address, ociScheme))
	if err != nil {
		return nil, err
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("docker's configuration file: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if r.insecure {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	repository.PlainHTTP = plainHTTP
	repository.Client = &auth.Client{
		Client: &http.Client{Transport: transport}, Cache: auth.NewCache(), Credential: credentials.Credential(store),
	}
	return repository, nil
}

// chartLayerOf finds the layer with the chart, of a size that may be read.
func chartLayerOf(ctx context.Context, repository *remote.Repository) (ocispec.Descriptor, error) {
	descriptor, err := repository.Resolve(ctx, cmp.Or(repository.Reference.Reference, "latest"))
	if err != nil {
		return descriptor, err
	}
	if descriptor.Size > maxManifest {
		return descriptor, fmt.Errorf("its manifest is larger than %d MiB", maxManifest>>20)
	}
	data, err := content.FetchAll(ctx, repository.Manifests(), descriptor)
	if err != nil {
		return descriptor, err
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return descriptor, fmt.Errorf("its manifest: %w", err)
	}
	i := slices.IndexFunc(manifest.Layers, func(layer ocispec.Descriptor) bool { return layer.MediaType == chartLayer })
	switch {
	case i < 0:
		return descriptor, fmt.Errorf("is no chart: its manifest has no layer of the type %s", chartLayer)
	case manifest.Layers[i].Size > maxArchive:
		return descriptor, fmt.Errorf("is larger than %d MiB", maxArchive>>20)
	}
	return manifest.Layers[i], nil
}
