// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const recipe = root + "/cmd/sluice-controller/Dockerfile"

// The image holds one file, and its user is a number, by which a kubelet knows that it is not root.
func TestTheImageIsOneBinaryOfAUserWhoIsNotRoot(t *testing.T) {
	text, err := os.ReadFile(recipe)
	require.NoError(t, err)
	_, last, found := strings.Cut(string(text), "\nFROM scratch\n")
	require.True(t, found)
	require.Equal(t, `COPY --from=build /sluice-controller /sluice-controller
USER 65532:65532
ENTRYPOINT ["/sluice-controller"]
`, last)
	ignored, err := os.ReadFile(recipe + ".dockerignore")
	require.NoError(t, err)
	for _, copied := range regexp.MustCompile(`(?m)^COPY ([^-].*) \S+$`).FindAllStringSubmatch(string(text), -1) {
		for _, name := range strings.Fields(copied[1]) {
			require.Contains(t, string(ignored), "!"+name+"\n")
			_, err := os.Stat(filepath.Join(root, name))
			require.NoError(t, err)
		}
	}
}

// The compiler's image is named whole, since it takes no other compiler than its own, whatever go.mod says.
func TestTheImageIsBuiltWithTheGoOfTheModule(t *testing.T) {
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	toolchain := regexp.MustCompile(`(?m)^toolchain go(\S+)$`).FindSubmatch(module)
	require.NotNil(t, toolchain)
	text, err := os.ReadFile(recipe)
	require.NoError(t, err)
	require.Contains(t, string(text), "\nFROM --platform=$BUILDPLATFORM golang:"+string(toolchain[1])+" AS build\n")
}

// The recipe's own command, run without a container: what it builds needs no other file.
func TestTheImagesBinaryIsStatic(t *testing.T) {
	if os.Getenv("SLUICE_LONG") == "" {
		t.Skip("make test-long builds it: without cgo all is compiled once more")
	}
	text, err := os.ReadFile(recipe)
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 .*)$`).FindStringSubmatch(string(text))
	require.NotNil(t, command)
	binary := filepath.Join(t.TempDir(), "sluice-controller")
	line := strings.Replace(command[1], "-o /sluice-controller", "-o "+binary, 1)
	run := exec.Command("sh", "-c", line)
	run.Dir = root
	run.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH=amd64", "VERSION=0.1.0")
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	file, err := elf.Open(binary)
	require.NoError(t, err)
	defer file.Close()
	for _, program := range file.Progs {
		require.NotEqual(t, elf.PT_INTERP, program.Type, "it wants a dynamic linker")
	}
	needed, err := file.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, needed)
}
