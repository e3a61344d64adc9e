// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"github.com/sluice-gateway/sluice/internal/spelling"
)

// notMappable says why a field cannot be mapped, and what may have been meant.
func notMappable(name string) string {
	if name == "" {
		return "is missing; name one of: " + listed(fieldsUnder(""))
	}
	bare := strings.TrimPrefix(name, "spec.")
	if _, ok := mappable(bare); ok {
		return fmt.Sprintf("%q begins with spec.; write %s", name, bare)
	}
	if name == "infrastructure.images" || strings.HasPrefix(name, "infrastructure.images.") {
		return "images are mapped by spec.imageMappings"
	}
	if whole := wholeOf(name); whole != "" {
		return fmt.Sprintf("%q lies within %s, which is mapped as a whole", name, whole)
	}
	if leaves := fieldsUnder(name); len(leaves) > 0 {
		return fmt.Sprintf("%q is not one value; map its leaves: %s", name, listed(leaves))
	}
	if near := nearest(name); near != "" {
		return fmt.Sprintf("%q is no field that can be mapped; did you mean %s?", name, near)
	}
	section, _, _ := strings.Cut(name, ".")
	if fields := fieldsUnder(section); len(fields) > 0 {
		return fmt.Sprintf("%q is no field that can be mapped; of %s these can: %s", name, section, listed(fields))
	}
	return fmt.Sprintf("%q is no field that can be mapped; these can: %s", name, listed(fieldsUnder("")))
}

// wholeOf is the field that is a list or map and that name lies within, if there is one.
func wholeOf(name string) string {
	for _, field := range mappableFields {
		if !field.scalar && strings.HasPrefix(name, field.name+".") {
			return field.name
		}
	}
	return ""
}

// fieldsUnder are the mappable fields of a section; all under no name.
func fieldsUnder(section string) []string {
	var fields []string
	for _, field := range mappableFields {
		if section == "" || strings.HasPrefix(field.name, section+".") {
			fields = append(fields, field.name)
		}
	}
	return fields
}

// maxTypos is how far a name may be from the one that was meant.
const maxTypos = 4

// nearest is the mappable field that ends as name does, or is spelt like it; empty where none does.
func nearest(name string) string {
	fields := fieldsUnder("")
	for _, field := range fields {
		if strings.HasSuffix(field, "."+name) {
			return field
		}
	}
	return spelling.Nearest(name, fields, maxTypos)
}
