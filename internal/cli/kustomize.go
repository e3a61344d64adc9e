// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/sluice-gateway/sluice/internal/render"
)

// addKustomization builds the kustomization of a folder, as kustomize-controller does, and reads what comes of it.
func addKustomization(set *render.Set, folder string) error {
	root, err := kustomizationRoot(folder)
	if err != nil {
		return err
	}
	files := &offlineFiles{FileSystem: filesys.MakeFsOnDisk(), root: root}
	objects, err := build(files)
	switch {
	case files.refused != nil:
		return errors.New(shortened(files.refused))
	case err != nil:
		return fmt.Errorf("%s: %s", folder, shortened(err))
	}
	for _, object := range objects {
		set.AddObject(originOf(object, folder), object.YNode())
	}
	return nil
}

// kustomizationRoot is the folder's absolute path. kustomize would take others for addresses of repositories.
func kustomizationRoot(folder string) (string, error) {
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		return "", fmt.Errorf("%s: is a file; -k takes the folder of a kustomization", folder)
	}
	if errors.Is(err, fs.ErrNotExist) && isRemote(folder) {
		return "", fmt.Errorf("%s: %w", folder, errRemote)
	}
	if err != nil {
		return "", err
	}
	return realPath(folder)
}

func build(files *offlineFiles) ([]*resource.Resource, error) {
	if err := openapi.AddSchema([]byte(classIsUnscoped)); err != nil {
		return nil, err
	}
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	defer refuseRequests()()
	built, err := krusty.MakeKustomizer(options).Run(files, files.root)
	if err != nil {
		return nil, err
	}
	return built.Resources(), nil
}

// originOf is the file that an object is from, or that its generator stands in.
func originOf(object *resource.Resource, folder string) string {
	origin, err := object.GetOrigin()
	if err != nil || origin == nil {
		return folder
	}
	return filepath.Join(folder, origin.Path, origin.ConfiguredIn)
}

// shortened is a message of kustomize on one line, with paths from the working directory on.
func shortened(err error) string {
	message := strings.Join(strings.Fields(err.Error()), " ")
	if here, err := realPath("."); err == nil {
		message = strings.ReplaceAll(message, here+string(filepath.Separator), "")
	}
	return message
}
