// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// recipe is part of every stamp. Raise it when this package changes how a tool is built or laid out.
const recipe = 1

// wantedStamp is a hash of all that decides what a tool is. A tool whose stamp file holds it is current.
func (l Layout) wantedStamp(t tool) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, recipe, runtime.Version(), t.pkg, goFlags(t), t.files)
	for _, end := range []string{".mod", ".sum"} {
		text, err := os.ReadFile(filepath.Join(l.moduleFiles(), t.family+end))
		if err != nil {
			return "", err
		}
		hash.Write(text)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func (l Layout) isCurrent(t tool, stamp string) bool {
	have, err := os.ReadFile(l.stamp(t.name))
	if err != nil || string(have) != stamp {
		return false
	}
	_, err = os.Stat(l.Bin(t.name))
	return err == nil
}
