// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"regexp"
	"strings"
)

// chartFile is one of a chart's templates, as Helm stores it beside a release.
type chartFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

var (
	definition = regexp.MustCompile(`\{\{-?\s*define\s+"([^"]+)"`)
	inclusion  = regexp.MustCompile(`\b(?:include|template)\s+"([^"]+)"`)
	// inclusionOfFile is how charts take a checksum over another file.
	inclusionOfFile = regexp.MustCompile(`\.BasePath\s+"/([^"]+)"`)
)

// asksForVersion says whether a file of the chart asks for the chart's version, itself or by what it includes. So it is taken
// to do where that is not known. A dependency's files ask for the dependency's version, which Flux leaves as it is.
func asksForVersion(runs *stored, source string) bool {
	if strings.HasPrefix(source, "charts/") {
		return false
	}
	texts := map[string]string{}
	for _, file := range runs.Chart.Templates {
		texts[file.Name] = string(file.Data)
		for name, body := range definitionsIn(string(file.Data)) {
			texts[name] = body
		}
	}
	_, known := texts[source]
	return !known || asks(texts, source, map[string]bool{})
}

// definitionsIn are the named templates of a file; each is taken to end where the next one begins.
func definitionsIn(text string) map[string]string {
	found := map[string]string{}
	all := definition.FindAllStringSubmatchIndex(text, -1)
	for i, at := range all {
		end := len(text)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		found[text[at[2]:at[3]]] = text[at[0]:end]
	}
	return found
}

// asks follows the texts, files and named templates, that a text includes.
func asks(texts map[string]string, name string, seen map[string]bool) bool {
	if seen[name] {
		return false
	}
	seen[name] = true
	if strings.Contains(texts[name], "Chart.Version") {
		return true
	}
	for _, found := range inclusion.FindAllStringSubmatch(texts[name], -1) {
		if asks(texts, found[1], seen) {
			return true
		}
	}
	for _, found := range inclusionOfFile.FindAllStringSubmatch(texts[name], -1) {
		if asks(texts, "templates/"+found[1], seen) {
			return true
		}
	}
	return false
}
