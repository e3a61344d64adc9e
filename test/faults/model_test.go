// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/test/gitops"
)

// kind of a gateway's spec.
type kind string

const (
	good     kind = "good"
	broken   kind = "broken"   // its pods never get ready
	refused  kind = "refused"  // it sets what the class does not map
	missing  kind = "missing"  // of a chart version that does not exist
	orphaned kind = "orphaned" // good, and left running when it goes
)

// wish is what the last commit says of one gateway.
type wish struct {
	kind     kind
	chart    string // major version
	message  string
	replicas int
}

func (w wish) manifest(team, name string) string {
	lines := []string{
		fmt.Sprintf("chart: {tag: %s.0.0}", w.chart),
		fmt.Sprintf("values: {message: %q}", w.message),
	}
	infrastructure := fmt.Sprintf("replicas: %d", w.replicas)
	switch w.kind {
	case broken:
		infrastructure += ", images: {web: registry.example.com/web:broken}"
		lines = append(lines, "release: {timeout: 5s}")
	case refused:
		lines = append(lines, "controlPlane: {host: example.com}")
	case missing:
		lines[0] = "chart: {tag: 9.9.9}"
	case orphaned:
		lines = append(lines, "deletionPolicy: Orphan")
	}
	return fmt.Sprintf(`apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGateway
metadata: {name: %s, namespace: %s}
spec:
  className: %s
  infrastructure: {%s}
  %s
`, name, team, team, infrastructure, strings.Join(lines, "\n  "))
}

// model is what the git repository says.
type model struct {
	team     string
	random   *rand.Rand
	note     string // of the class, which lands in every Deployment
	wishes   map[string]wish
	before   map[string][]wish // what each gateway was earlier, for reverts
	commits  int
	lastName int
}

func newModel(team string, random *rand.Rand) *model {
	return &model{team: team, random: random, note: "0", wishes: map[string]wish{}, before: map[string][]wish{}}
}

func (m *model) class() string {
	return fmt.Sprintf(`apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: %s}
spec:
  chart: {url: %q, insecure: true, ref: {tag: 1.0.0}, interval: 5s}
  values: {podAnnotations: {note: %q}}
  valueMappings: [{field: infrastructure.replicas, paths: [replicas]}]
  imageMappings: [{name: web, paths: [{repository: image.repository, tag: image.tag}]}]
  release: {timeout: 20s, interval: 10s}
  remediation: {failureThreshold: 100, backoff: {initial: 2s, max: 2s}}
`, m.team, chart.URL, m.note)
}

// begin is the first commit.
func (m *model) begin() gitops.Files {
	files := gitops.Files{"class.yaml": m.class()}
	for range 3 {
		name := m.newName()
		m.wishes[name] = wish{good, "1", "begin", 1}
		files[name+".yaml"] = m.wishes[name].manifest(m.team, name)
	}
	return files
}

func (m *model) newName() string {
	m.lastName++
	return fmt.Sprintf("web-%d", m.lastName)
}

// change makes the next commit, of one or two changes, and says what they are.
func (m *model) change() (string, gitops.Files) {
	m.commits++
	files := gitops.Files{"log.txt": fmt.Sprint(m.commits)} // a commit changes something even if two changes undo one another
	var said []string
	for range 1 + m.random.IntN(2) {
		said = append(said, m.one(files))
	}
	return strings.Join(said, ", "), files
}

func (m *model) one(files gitops.Files) string {
	names := slices.Sorted(maps.Keys(m.wishes))
	if len(names) == 0 || len(names) < 6 && m.random.IntN(5) == 0 {
		return m.add(files)
	}
	name := names[m.random.IntN(len(names))]
	w := m.wishes[name]
	next, what := w, ""
	next.message = fmt.Sprintf("commit %d", m.commits)
	switch choice := m.random.IntN(12); {
	case choice == 0:
		m.note = fmt.Sprint(m.commits)
		files["class.yaml"] = m.class()
		return "class note " + m.note
	case choice == 1:
		delete(m.wishes, name)
		delete(m.before, name)
		if _, unborn := files[name+".yaml"]; unborn && w.message == "new "+fmt.Sprint(m.commits) {
			delete(files, name+".yaml") // added by this very commit
			return "no " + name
		}
		files[name+".yaml"] = gitops.Removed
		return "remove " + name
	case choice == 2:
		next.kind, what = broken, "break"
	case choice == 3:
		next.kind, what = refused, "refuse"
	case choice == 4:
		next.kind, what = missing, "no chart for"
	case choice == 5:
		next.kind, what = orphaned, "orphan"
	case choice == 6 && len(m.before[name]) > 0:
		all := m.before[name]
		next, what = all[len(all)-1], "revert"
	case choice == 7:
		next.kind, next.chart, what = good, fmt.Sprint(1+m.random.IntN(2)), "chart of"
	case choice == 8:
		next.kind, next.replicas, what = good, 1+m.random.IntN(3), "scale"
	default:
		next.kind, what = good, "message of"
	}
	if next == w {
		next.message += " again"
	}
	m.before[name] = append(m.before[name], w)
	m.wishes[name] = next
	files[name+".yaml"] = next.manifest(m.team, name)
	return what + " " + name
}

func (m *model) add(files gitops.Files) string {
	name := m.newName()
	if again := fmt.Sprintf("web-%d", 1+m.random.IntN(m.lastName)); m.random.IntN(2) == 0 {
		_, there := m.wishes[again]
		_, touched := files[again+".yaml"]
		if !there && !touched {
			name = again
			m.lastName--
		}
	}
	m.wishes[name] = wish{good, fmt.Sprint(1 + m.random.IntN(2)), fmt.Sprintf("new %d", m.commits), 1}
	files[name+".yaml"] = m.wishes[name].manifest(m.team, name)
	return "add " + name
}

// end is the last commit: nothing is left but the class.
func (m *model) end() gitops.Files {
	files := gitops.Files{"log.txt": "the end"}
	for name := range m.wishes {
		files[name+".yaml"] = gitops.Removed
	}
	m.wishes = map[string]wish{}
	return files
}
