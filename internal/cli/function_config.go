// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

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
	var apiVersion, kind string
	if node.YNode().Kind == yaml.MappingNode { // kyaml looks for fields in lists too, and fails
		apiVersion, kind = node.GetApiVersion(), node.GetKind()
	}
	if apiVersion != functionAPIVersion || kind != functionKind {
		is := cmp.Or(strings.TrimSpace(apiVersion+" "+kind), "of no kind")
		return config, configError{message: fmt.Sprintf("is %s, and must be %s %s", is, functionAPIVersion, functionKind)}
	}
	if err := checkFiles(node); err != nil {
		return config, err
	}
	text, err := node.String()
	if err != nil {
		return config, err
	}
	var reader render.Reader
	reader.AddObject("", []byte(text))
	problems := reader.Problems()
	for _, in := range reader.Inputs() {
		problems = append(problems, in.Decode(&config)...)
	}
	if len(problems) > 0 {
		return config, configError{problems[0].Field, problems[0].Message}
	}
	if i := slices.Index(config.Spec.Files, stdin); i >= 0 {
		return config, configError{fmt.Sprintf("spec.files[%d]", i), "- is stdin, which holds the items"}
	}
	return config, nil
}

// configError is what is wrong with the functionConfig.
type configError struct{ field, message string }

func (e configError) Error() string {
	return "functionConfig: " + strings.TrimPrefix(e.field+": "+e.message, ": ")
}

// checkFiles refuses files that are no text, of which decoding makes some, and ones without a name. What is no list, decoding
// refuses.
func checkFiles(config *yaml.RNode) error {
	files, err := config.Pipe(yaml.Lookup("spec", "files"))
	if err != nil || files == nil {
		return nil
	}
	for i, file := range files.Content() {
		field := fmt.Sprintf("spec.files[%d]", i)
		switch {
		case !isText(file):
			return configError{field, "must be a string (quoted, if it looks like something else), not " + render.Shape(file)}
		case file.Value == "":
			return configError{field, "is empty; name a file, or remove it"}
		}
	}
	return nil
}

// isText says whether all versions of YAML take a scalar for a string.
func isText(node *yaml.Node) bool {
	marked := yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
	return node.ShortTag() == yaml.NodeTagString && (node.Style&marked != 0 || !yaml.IsValueNonString(node.Value))
}

// fieldOf is the field of each flag that may be refused.
var fieldOf = map[string]string{"--api-versions": "spec.apiVersions", "--exposure-mode": "spec.exposureMode"}

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
	if err == nil {
		return options, nil
	}
	for flag, field := range fieldOf {
		if message, found := strings.CutPrefix(err.Error(), flag); found {
			return options, configError{field, strings.TrimLeft(message, ": ")}
		}
	}
	return options, err
}
