// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

var errRemote = errors.New("is remote, and render uses no network; name a local copy")

// offlineFiles is the disk as kustomize is to see it: the kustomization at the root also says which fields of an APIGateway
// are names, and where each object is from; and none refers to a repository, which kustomize would clone.
type offlineFiles struct {
	filesys.FileSystem
	// root of the build, an absolute path without links.
	root string
	// refused is the first thing that was refused. kustomize takes errors of reading for missing files.
	refused error
}

func (f *offlineFiles) ReadFile(path string) ([]byte, error) {
	folder, name := filepath.Split(path)
	folder = filepath.Clean(folder)
	if folder == f.root && name == referencesFile {
		return nameReferences()
	}
	data, err := f.FileSystem.ReadFile(path)
	if err != nil || !slices.Contains(konfig.RecognizedKustomizationFileNames(), name) {
		return data, err
	}
	if err := refuseRemotes(folder, path, data); err != nil {
		f.refused = cmp.Or(f.refused, err)
		return nil, err
	}
	if folder == f.root {
		return extended(data), nil
	}
	return data, nil
}

// refuseRemotes looks at what kustomize takes for folders. What it cannot parse it refuses itself.
func refuseRemotes(folder, file string, data []byte) error {
	var k types.Kustomization
	if k.Unmarshal(data) != nil {
		return nil
	}
	k.FixKustomization() // which puts what is deprecated under its new name
	for _, entries := range [][]string{k.Resources, k.Components, k.Generators, k.Transformers, k.Validators, k.Crds, k.Configurations} {
		for _, entry := range entries {
			if isRemote(entry) && !isFile(filepath.Join(folder, entry)) {
				return fmt.Errorf("%s: %s %w", file, entry, errRemote)
			}
		}
	}
	return nil
}

var remotes = regexp.MustCompile(`(?i)^(git::)?([a-z]+://|[a-z][a-z0-9-]*@|github\.com[/:])`)

// isRemote says whether kustomize would clone or download it.
func isRemote(entry string) bool {
	return remotes.MatchString(entry) && !strings.Contains(entry, "\n")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// refuseRequests keeps kustomize from downloading, which it does with the default client wherever an address stands in
// place of a file, and offers no other way to keep it from that. The function returned allows it again.
func refuseRequests() func() {
	before := http.DefaultTransport
	http.DefaultTransport = offline{}
	return func() { http.DefaultTransport = before }
}

type offline struct{}

func (offline) RoundTrip(request *http.Request) (*http.Response, error) {
	return nil, errRemote
}
