// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/render"
)

const (
	functionAPIVersion = "fn.sluice.dev/v1alpha1"
	functionKind       = "Render"
)

// functionConfig is the object by which a kustomization runs the function. Its fields are the flags of render.
type functionConfig struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            functionSpec      `json:"spec"`
}

type functionSpec struct {
	// Files to read beside the items, from the kustomization's folder on.
	Files                []string `json:"files"`
	ShareSources         bool     `json:"shareSources"`
	ControllerName       string   `json:"controllerName"`
	APIVersions          []string `json:"apiVersions"`
	ExposureMode         string   `json:"exposureMode"`
	ExternalCAIssuerName string   `json:"externalCAIssuerName"`
	ClusterName          string   `json:"clusterName"`
}

// readFunctionConfig reads one that is there, and refuses what it does not know.
func readFunctionConfig(node *yaml.RNode) (functionConfig, error) {
	config := functionConfig{}
	if node.IsNilOrEmpty() {
		return config, nil
	}
	if node.GetApiVersion() != functionAPIVersion || node.GetKind() != functionKind {
		is := cmp.Or(strings.TrimSpace(node.GetApiVersion()+" "+node.GetKind()), "of no kind")
		return config, fmt.Errorf("functionConfig: is %s, and must be %s %s", is, functionAPIVersion, functionKind)
	}
	text, err := node.String()
	if err != nil {
		return config, err
	}
	if err := k8syaml.UnmarshalStrict([]byte(text), &config); err != nil {
		_, reason, _ := strings.Cut(err.Error(), "json: ")
		return config, fmt.Errorf("functionConfig: %s", cmp.Or(reason, err.Error()))
	}
	if err := checkFiles(node); err != nil {
		return config, err
	}
	if slices.Contains(config.Spec.Files, stdin) {
		return config, errors.New("functionConfig: spec.files: - is stdin, which holds the items")
	}
	return config, nil
}

// checkFiles refuses files that are no text, of which decoding makes some, and ones without a name.
func checkFiles(config *yaml.RNode) error {
	files, err := config.Pipe(yaml.Lookup("spec", "files"))
	if err != nil || files == nil {
		return err
	}
	for i, file := range files.Content() {
		field := fmt.Sprintf("functionConfig: spec.files[%d]", i)
		switch {
		case !isText(file):
			return fmt.Errorf("%s: must be a string (quoted, if it looks like something else), not %s", field, render.Shape(file))
		case file.Value == "":
			return fmt.Errorf("%s: is empty; name a file, or remove it", field)
		}
	}
	return nil
}

// isText says whether all versions of YAML take a scalar for a string.
func isText(node *yaml.Node) bool {
	marked := yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
	return node.ShortTag() == yaml.NodeTagString && (node.Style&marked != 0 || !yaml.IsValueNonString(node.Value))
}

// inConfig says of a flag's error which field it is of.
var inConfig = strings.NewReplacer("--api-versions", "functionConfig: spec.apiVersions", "--exposure-mode", "functionConfig: spec.exposureMode")

func (c functionConfig) options() (render.Options, error) {
	flags := renderFlags{
		shareSources:   c.Spec.ShareSources,
		controllerName: cmp.Or(c.Spec.ControllerName, v1alpha1.DefaultControllerName),
		clusterFlags: clusterFlags{
			apiVersions:  c.Spec.APIVersions,
			exposureMode: cmp.Or(c.Spec.ExposureMode, string(v1alpha1.ExposureNone)),
			issuer:       c.Spec.ExternalCAIssuerName,
			clusterName:  cmp.Or(c.Spec.ClusterName, v1alpha1.DefaultClusterName),
		},
	}
	options, err := flags.options()
	if err != nil {
		return options, errors.New(inConfig.Replace(err.Error()))
	}
	return options, nil
}
