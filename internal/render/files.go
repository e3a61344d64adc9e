// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"strings"
)

// File of an output folder.
type File struct {
	Name string
	Data []byte
}

// KustomizationFile is the one that lists the others.
const KustomizationFile = "kustomization.yaml"

// marker is how a file says that it was made here. It must not change: files with another one would be other people's.
const marker = "# Written by sluice render --output-dir, which will overwrite or remove it.\n"

// Files are one for each object, and last a kustomization that lists them in the order of the objects.
func Files(objects []Object) ([]File, error) {
	var files []File
	list := []byte(marker + "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n")
	for _, o := range objects {
		data, err := o.YAML()
		if err != nil {
			return nil, err
		}
		name := o.fileName()
		files = append(files, File{Name: name, Data: append([]byte(marker), data...)})
		list = append(list, "- "+name+"\n"...)
	}
	return append(files, File{Name: KustomizationFile, Data: list}), nil
}

// fileName is made of what no name holds, so that no two objects have one.
func (o Object) fileName() string {
	return o.Namespace + "_" + strings.ToLower(o.Kind) + "_" + o.Name + ".yaml"
}

// IsOurs says whether a file that begins so was written for an output folder.
func IsOurs(beginning []byte) bool {
	return bytes.HasPrefix(beginning, []byte(strings.TrimSpace(marker)))
}

// MarkerLength is how much of a file's beginning IsOurs looks at.
const MarkerLength = len(marker)
