// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/kustomize"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/test/toolchain"
)

func checkout(t *testing.T) string {
	t.Helper()
	layout, err := toolchain.Find()
	require.NoError(t, err)
	return layout.Root()
}

// yamlElsewhere says which test reads a block of YAML, by its document and its first words.
var yamlElsewhere = map[string]string{
	"README.md apiVersion: gateway.sluice.dev/v1alpha1": "test/demo TestReadmeExampleRenders",
	"README.md spec:": "test/demo TestReadmeExampleRenders",
	"README.md apiVersion: fn.sluice.dev/v1alpha1":                    "cmd/sluice TestAsATransformerItMakesWhatRenderMakesOfTheOverlay",
	"README.md watchChildren:":                                        "TestTheWatchedChildrenOfTheReadme",
	"README.md resources:":                                            "TestCommandsThatNeedNoCluster",
	"charts/sluice/README.md apiVersion: source.toolkit.fluxcd.io/v1": "TestTheKustomizationThatInstallsFromGit",
	"charts/gateway/README.md hostnames:":                             "test/chart TestREADMEsExampleWorks",
}

// yamlBegins is the first key, and the value of an apiVersion.
var yamlBegins = regexp.MustCompile(`^(apiVersion: \S+|\w+:)`)

// A block is for a shell, or YAML that a test reads, or a drawing.
func TestBlocksAreOfAKnownKind(t *testing.T) {
	all, err := blocks(checkout(t))
	require.NoError(t, err)
	for _, b := range all {
		switch at := fmt.Sprintf("%s:%d", b.file, b.line); b.kind() {
		case "sh", "console":
		case "text":
			assert.NotContains(t, strings.Join(b.lines, "\n"), "\n$ ", at+" shows commands: call it console")
		case "yaml":
			words := yamlBegins.FindString(b.lines[0])
			assert.Contains(t, yamlElsewhere, b.file+" "+words, at+" is YAML that no test reads")
		default:
			t.Errorf("%s is in %q, which is not known here", at, b.kind())
		}
	}
}

func TestEveryCommandIsRunOrListed(t *testing.T) {
	all, err := Commands(checkout(t))
	require.NoError(t, err)
	places, shown := map[Place]int{}, map[string]bool{}
	for _, c := range all {
		assert.NotEmpty(t, c.Place(), "%s\nno test runs it: give it a place, or list it in NotRun with the reason", c)
		if c.Output != "" && c.Place() != Here {
			assert.True(t, strings.HasPrefix(c.Text, "sluice tree "), "%s\nno test compares the output that is shown", c) // TestTheStoryThatTheReadmeShows
		}
		places[c.Place()]++
		shown[c.Bare()] = true
	}
	makefile, err := os.ReadFile(filepath.Join(checkout(t), "Makefile"))
	require.NoError(t, err)
	for text := range NotRun {
		if target, isMake := strings.CutPrefix(text, "make "); isMake {
			assert.Contains(t, string(makefile), "\n"+target+": ", "the Makefile has no target of %q", text)
		}
		assert.True(t, shown[text], "NotRun lists %q, which no document shows", text)
	}
	for _, place := range []Place{Here, OnFlux, OnAPIServer, Nowhere} {
		assert.NotZero(t, places[place], place)
	}
}

func TestCommandsThatNeedNoCluster(t *testing.T) {
	root := checkout(t)
	dir := t.TempDir()
	sluice := filepath.Join(dir, "sluice-built")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", sluice, filepath.Join(root, "cmd", "sluice")).CombinedOutput()
	require.NoError(t, err, string(out))
	shell, err := NewShell(t.Context(), root, sluice, dir)
	require.NoError(t, err)
	commands, err := At(root, Here)
	require.NoError(t, err)
	for _, c := range commands {
		runs(t, shell, c)
	}
	t.Run("the links that the README makes are a plugin of kubectl", func(t *testing.T) {
		out, err := shell.Run(t.Context(), "kubectl sluice version --client 2>&1 || kubectl sluice version")
		assert.NoError(t, err, out)
		out, err = shell.Run(t.Context(), "kubectl __complete sluice tr ''")
		assert.NoError(t, err, out)
	})
	t.Run("the kustomization that patches flux/install builds", func(t *testing.T) {
		folder := filepath.Join(shell.Dir, "cluster")
		require.NoError(t, os.Mkdir(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(yamlBlock(t, root, "resources:")), 0o644))
		out, err := shell.Run(t.Context(), "kubectl kustomize cluster")
		require.NoError(t, err, out)
		isInstallation(t, root, out)
	})
	t.Run("what was rendered into a folder is there", func(t *testing.T) {
		entries, err := os.ReadDir(filepath.Join(shell.Dir, "bin", "rendered"))
		require.NoError(t, err)
		assert.Len(t, entries, 3)
	})
}

// isInstallation says whether all that is installed comes from the registry that the documents name.
func isInstallation(t *testing.T, root, built string) {
	t.Helper()
	documents := strings.Split(built, "---\n") // Namespace, HelmRelease, OCIRepository
	require.Len(t, documents, 3)
	source, release := &sourcev1.OCIRepository{}, &helmv2.HelmRelease{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[1]), release))
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[2]), source))
	assert.Equal(t, "oci://registry.example.com/charts/sluice", source.Spec.URL)
	values, err := yaml.JSONToYAML(release.Spec.Values.Raw)
	require.NoError(t, err)
	installed := template(t, root, string(values))
	assert.Contains(t, installed, "image: registry.example.com/sluice-controller:v0.1.0\n")
	assert.Contains(t, installed, "url: oci://registry.example.com/charts/gateway\n")
	assert.NotContains(t, installed, "ghcr.io/sluice-gateway")
}

// template is what charts/sluice makes of values.
func template(t *testing.T, root, values string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(file, []byte(values), 0o644))
	layout, err := toolchain.Find()
	require.NoError(t, err)
	chart := filepath.Join(root, "charts", "sluice")
	out, err := exec.CommandContext(t.Context(), layout.Bin("helm"), "template", "sluice", chart, "-f", file).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// What charts/sluice/README.md has Flux do from git: the patches are built over the path that they are for.
func TestTheKustomizationThatInstallsFromGit(t *testing.T) {
	root := checkout(t)
	first, second, found := strings.Cut(yamlBlock(t, root, "apiVersion: source.toolkit.fluxcd.io/v1"), "---\n")
	require.True(t, found)
	repository := &sourcev1.GitRepository{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(first), repository))
	flux := struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct { // no more than the document uses
			Interval  metav1.Duration
			Prune     bool
			Wait      bool
			SourceRef struct{ Kind, Name string }
			Path      string
			Patches   []kustomize.Patch
		}
	}{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(second), &flux))
	assert.Equal(t, []string{repository.Kind, repository.Name}, []string{flux.Spec.SourceRef.Kind, flux.Spec.SourceRef.Name})
	assert.Equal(t, repository.Namespace, flux.Namespace)

	shell, err := NewShell(t.Context(), root, "sluice", t.TempDir())
	require.NoError(t, err)
	overlay, err := yaml.Marshal(map[string]any{"resources": []string{filepath.Join("..", flux.Spec.Path)}, "patches": flux.Spec.Patches})
	require.NoError(t, err)
	folder := filepath.Join(shell.Dir, "cluster")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), overlay, 0o644))
	out, err := shell.Run(t.Context(), "kubectl kustomize cluster")
	require.NoError(t, err, out)
	isInstallation(t, root, out)
}

func runs(t *testing.T, shell *Shell, c Command) {
	t.Helper()
	out, err := shell.Run(t.Context(), c.Text)
	if err != nil {
		t.Errorf("%s: %v\n%s", c, err, out)
	}
	if c.Output != "" && !Shows(c.Output, out) {
		t.Errorf("%s prints\n%s\nand the document shows\n%s", c, out, c.Output)
	}
}

// yamlBlock is the text of the one block that begins so.
func yamlBlock(t *testing.T, root, begin string) string {
	t.Helper()
	all, err := blocks(root)
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(b block) bool { return !strings.HasPrefix(b.lines[0], begin) })
	require.Len(t, all, 1)
	return strings.Join(all[0].lines, "\n")
}

// The values of charts/sluice that the README shows set the flag that it names.
func TestTheWatchedChildrenOfTheReadme(t *testing.T) {
	root := checkout(t)
	text := yamlBlock(t, root, "watchChildren:")
	first, _, _ := strings.Cut(text, "\n")
	_, flag, found := strings.Cut(first, "the operator's flag is ")
	require.True(t, found)
	assert.Contains(t, template(t, root, text), flag+"\n")
}

// What the README shows of tree is what tree printed on a real cluster, of a gateway of another name.
func TestTheStoryThatTheReadmeShows(t *testing.T) {
	root := checkout(t)
	commands, err := Commands(root)
	require.NoError(t, err)
	commands = slices.DeleteFunc(commands, func(c Command) bool { return c.Output == "" || !strings.HasPrefix(c.Text, "sluice tree ") })
	require.Len(t, commands, 1)
	golden, err := os.ReadFile(filepath.Join(root, "test", "flux", "testdata", "tree", "upgrade.txt"))
	require.NoError(t, err)
	printed := strings.NewReplacer("tree/upgrade", "apis/web", "reconcile upgrade -n tree", "reconcile web -n apis").Replace(string(golden))
	shown := strings.TrimSuffix(commands[0].Output, "…\n")
	assert.NotEqual(t, shown, commands[0].Output, "the golden file holds the first five lines: an ellipsis stands for the others")
	assert.True(t, Shows(shown, printed), "README.md shows\n%s\nand the golden file holds\n%s", Settled(shown), printed)
}

func TestShows(t *testing.T) {
	for what, c := range map[string]struct {
		shown, printed string
		want           bool
	}{
		"the same":                {"a\nb\n", "a\nb\n", true},
		"another line":            {"a\nb\n", "a\nc\n", false},
		"a line less":             {"a\n", "a\nb\n", false},
		"a line more":             {"a\nb\n", "a\n", false},
		"a beginning":             {"a b…\nc\n", "a b d\nc\n", true},
		"another beginning":       {"a c…\n", "a b\n", false},
		"the first lines":         {"a\n…\n", "a\nb\nc\n", true},
		"lines left out between":  {"a\n…\nc\n", "a\nb\nc\n", false},
		"another time":            {"for 30s\n", "for 1m2s\n", true},
		"another number of times": {"after 1 failed\n", "after 2 failed\n", false},
	} {
		assert.Equal(t, c.want, Shows(c.shown, c.printed), what)
	}
}

func TestBlocksAreFound(t *testing.T) {
	text := "# A\n\nText\n    that goes on.\n\n    one\n\n    two # a comment\n\nMore.\n\n```console\n$ a \\\n  b\nout\n```\n```\n    drawn\n```\n\n" +
		"    key: value\n    more: 1\n"
	got := blocksOf("a.md", text)
	assert.Equal(t, []block{
		{file: "a.md", line: 6, lines: []string{"one", "", "two # a comment"}},
		{file: "a.md", line: 13, language: "console", fenced: true, lines: []string{`$ a \`, "  b", "out"}},
		{file: "a.md", line: 18, fenced: true, lines: []string{"    drawn"}},
		{file: "a.md", line: 21, lines: []string{"key: value", "more: 1"}},
	}, got)
	var kinds []string
	for _, b := range got {
		kinds = append(kinds, b.kind())
	}
	assert.Equal(t, []string{"sh", "console", "text", "yaml"}, kinds)
	assert.Equal(t, []Command{
		{File: "a.md", Line: 6, Text: "one"}, {File: "a.md", Line: 8, Text: "two # a comment"},
	}, got[0].script())
	assert.Equal(t, []Command{{File: "a.md", Line: 13, Text: "a \\\n  b", Output: "out\n"}}, got[1].session())
	assert.Equal(t, "two", got[0].script()[1].Bare())
}

func TestACommandWithoutAPlaceIsAGap(t *testing.T) {
	for text, want := range map[string]Place{
		"sluice render -f a":                        Here,
		"sluice diff -f a --against=cluster":        OnFlux,
		"sluice get -A    # all":                    OnFlux,
		"sluice frobnicate":                         "",
		"docker build .":                            "",
		"bin/sluice migrate --from-cluster --check": OnAPIServer,
		"make demo":                                 Nowhere,
	} {
		assert.Equal(t, want, Command{File: "README.md", Text: text}.Place(), text)
	}
	assert.Equal(t, OnAPIServer, Command{File: "examples/README.md", Text: "kubectl get agw"}.Place())
}
