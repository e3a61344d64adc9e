// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/chart"
	"github.com/sluice-gateway/sluice/internal/lint"
	"github.com/sluice-gateway/sluice/internal/render"
)

// chartFlags say which charts classes are held against.
type chartFlags struct {
	charts []string
	pull   bool
	registryFlags
}

func (c *chartFlags) add(f *pflag.FlagSet) {
	f.Var((*givenList)(&c.charts), "chart", "chart to hold classes against: a folder, a .tgz, or oci://registry/repository with :tag or @digest; "+
		"CLASS=CHART for the chart of one class; may be repeated")
	f.BoolVar(&c.pull, "pull", false, "pull the charts that --chart does not give, at the url and version of the class or gateway")
	c.registryFlags.add(f)
}

// maxArchive bounds what is read of a packed chart. Helm's releases, which hold charts, must fit into 1 MiB.
const maxArchive = 32 << 20

const ociScheme = "oci://"

// readCharts reads what the flags name, each chart once.
func readCharts(ctx context.Context, flags chartFlags, in lint.Input) (lint.Charts, error) {
	charts := lint.Charts{OfClasses: map[string]*chart.Chart{}, OfGateways: map[types.NamespacedName]*chart.Chart{}}
	for _, text := range flags.charts {
		class, ref, err := chartOfClass(text, in.Set)
		if err != nil {
			return charts, err
		}
		if charts.OfClasses[class] != nil {
			return charts, fmt.Errorf("--chart %s: class %s has a chart already; give each one", text, class)
		}
		c, err := readChart(ctx, flags.registryFlags, ref)
		if err != nil {
			return charts, fmt.Errorf("%s: %w", ref, pathless(err))
		}
		charts.OfClasses[class] = c
	}
	if !flags.pull {
		return charts, nil
	}
	return charts, pullMissing(ctx, flags.registryFlags, in, charts)
}

func classNames(set *render.Set) []string {
	var names []string
	for _, class := range set.Classes() {
		names = append(names, class.Name)
	}
	return names
}

// noClassError: a chart has no class in the input. The reason may be that the class could not be read, which is told then.
type noClassError struct{ message string }

func (e *noClassError) Error() string { return e.message }

// noClass is why --chart has no class, or not the one that it names: the input has none, or it could not be read.
func noClass(text, class string, set *render.Set) error {
	misread := set.Misread()
	object := v1alpha1.APIGatewayClassKind + " " + class
	ofClass := func(p render.Problem) bool {
		return p.Object == object || class == "" && strings.HasPrefix(p.Object, object)
	}
	ofFile := func(p render.Problem) bool { return p.Object == "" }
	why := "there is no class in the input to hold against it; pass its file with -f, too"
	if class != "" {
		why = fmt.Sprintf("there is no class %s in the input; there is: %s", class, orNone(classNames(set)))
	}
	if i := slices.IndexFunc(misread, ofClass); i >= 0 {
		why = fmt.Sprintf("%s, in %s, is at fault; correct it first", strings.TrimSpace(misread[i].Object), misread[i].File)
	} else if i := slices.IndexFunc(misread, ofFile); i >= 0 {
		why = fmt.Sprintf("%s may be in %s, which is at fault; correct it first", strings.TrimSpace("its class "+class), misread[i].File)
	}
	return &noClassError{fmt.Sprintf("--chart %s: %s", text, why)}
}

// chartOfClass reads one --chart. Without a class it is that of the only one there is.
func chartOfClass(text string, set *render.Set) (class, ref string, err error) {
	classes := classNames(set)
	class, ref, named := strings.Cut(text, "=")
	switch {
	case named && !strings.Contains(class, "/") && !slices.Contains(classes, class):
		return "", "", noClass(text, class, set)
	case named && !strings.Contains(class, "/") && ref == "":
		return "", "", fmt.Errorf("--chart %s: no chart is named; write --chart %s=CHART", text, class)
	case named && !strings.Contains(class, "/"):
		return class, ref, nil
	case len(classes) == 0:
		return "", "", noClass(text, "", set)
	case len(classes) > 1:
		return "", "", fmt.Errorf("--chart %s: there are several classes in the input: say whose chart it is, as in --chart %s=%s (or of %s)",
			text, classes[0], text, strings.Join(classes[1:], ", "))
	}
	return classes[0], text, nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func readChart(ctx context.Context, flags registryFlags, ref string) (*chart.Chart, error) {
	if strings.HasPrefix(ref, ociScheme) {
		return flags.pullChart(ctx, ref, flags.plainHTTP)
	}
	info, err := os.Stat(ref)
	switch {
	case err != nil && isAddress(ref):
		return nil, fmt.Errorf("%w; a chart of a registry is written %s%s", pathless(err), ociScheme, withoutScheme(ref))
	case err != nil:
		return nil, err
	case info.IsDir():
		return chartFolder(ref)
	case info.Size() > maxArchive:
		return nil, fmt.Errorf("is larger than %d MiB", maxArchive>>20)
	}
	file, err := os.Open(ref)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return chart.FromArchive(io.LimitReader(file, maxArchive))
}

// isAddress says whether what is no file may be meant for a registry: it has a scheme, or begins with a host that has a dot or a
// port, as registries' have.
func isAddress(ref string) bool {
	if ref != withoutScheme(ref) {
		return true
	}
	host, _, below := strings.Cut(ref, "/")
	return below && strings.Trim(host, ".") != "" && (strings.ContainsAny(host, ".:") || host == "localhost")
}

func withoutScheme(ref string) string {
	if _, address, found := strings.Cut(ref, "://"); found {
		return address
	}
	return ref
}

// chartFolder reads those files of a folder that tell of values.
func chartFolder(folder string) (*chart.Chart, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(folder+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		if below = filepath.ToSlash(below); entry.IsDir() || !chart.Wanted(below) {
			return nil
		}
		files[below], err = os.ReadFile(file)
		return err
	})
	if err != nil {
		return nil, err
	}
	return chart.FromFiles(files)
}

// pathless is an error about a file whose name has been said.
func pathless(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
