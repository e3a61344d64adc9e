// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/sluice-gateway/sluice/api/v1alpha1"

// rules are what a class says of values, read: its documents decoded, its paths parsed.
type rules struct {
	class  string
	values map[string]any
	fields []fieldRule
	images []imageRule
	// capabilities and exposure say what the target cluster adds.
	capabilities []capabilityRule
	exposure     exposureRule
}

// fieldRule says where one field of the gateway lands.
type fieldRule struct {
	field   mappableField
	paths   []Path
	allowed []string
	whenSet map[string]any
}

// imageRule says where one image of the gateway lands.
type imageRule struct {
	name   string
	places []imagePlace
}

// imagePlace is where the parts of an image land; a part without a path is nil.
type imagePlace struct {
	registry, repository, tag, digest Path
}

// readRules reads a class's values and mappings.
func readRules(class *v1alpha1.APIGatewayClass, wrong *faults) rules {
	spec := &class.Spec
	r := rules{class: class.Name, values: readValues("spec.values", spec.Values, wrong)}
	taken := &pathTree{}
	seen := map[string]string{}
	for i := range spec.ValueMappings {
		here := at("spec.valueMappings", i)
		rule := readFieldRule(here, &spec.ValueMappings[i], taken, wrong)
		refuseRepeated(seen, here+".field", spec.ValueMappings[i].Field, wrong)
		r.fields = append(r.fields, rule)
	}
	seen = map[string]string{}
	for i := range spec.ImageMappings {
		here := at("spec.imageMappings", i)
		rule := readImageRule(here, &spec.ImageMappings[i], taken, wrong)
		refuseRepeated(seen, here+".name", spec.ImageMappings[i].Name, wrong)
		r.images = append(r.images, rule)
	}
	r.capabilities = readCapabilities(spec.CapabilityValues, wrong)
	r.exposure = readExposure(deref(spec.Exposure), taken, wrong)
	return r
}

// refuseRepeated refuses a name that an earlier mapping has.
func refuseRepeated(seen map[string]string, here, name string, wrong *faults) {
	if first, ok := seen[name]; ok && name != "" {
		wrong.invalid(here, "%s is mapped already by %s; list all paths in one mapping", name, first)
		return
	}
	seen[name] = here
}

func readFieldRule(here string, m *v1alpha1.ValueMapping, taken *pathTree, wrong *faults) fieldRule {
	rule := fieldRule{allowed: m.Allowed}
	field, ok := mappable(m.Field)
	if !ok {
		wrong.invalid(here+".field", "%s", notMappable(m.Field))
	}
	rule.field = field
	if ok && len(m.Allowed) > 0 && !field.scalar {
		wrong.invalid(here+".allowed", "goes with a single value, and %s is a list or a map", field.name)
	}
	if len(m.Paths) == 0 {
		wrong.invalid(here+".paths", "is empty; name at least one path of the chart's values")
	}
	for j, text := range m.Paths {
		if path := readPath(at(here+".paths", j), text, taken, wrong); path != nil {
			rule.paths = append(rule.paths, path)
		}
	}
	if m.WhenSet != nil {
		rule.whenSet = decodeObject(here+".whenSet", m.WhenSet.Raw, wrong)
	}
	return rule
}

func readImageRule(here string, m *v1alpha1.ImageMapping, taken *pathTree, wrong *faults) imageRule {
	rule := imageRule{name: m.Name}
	if m.Name == "" {
		wrong.invalid(here+".name", "is empty; name the image as gateways do in infrastructure.images")
	}
	if len(m.Paths) == 0 {
		wrong.invalid(here+".paths", "is empty; name at least one path of the chart's values")
	}
	for j, paths := range m.Paths {
		rule.places = append(rule.places, readImagePlace(at(here+".paths", j), paths, taken, wrong))
	}
	return rule
}

func readImagePlace(here string, m v1alpha1.ImagePaths, taken *pathTree, wrong *faults) imagePlace {
	read := func(part string, path *string) Path {
		if text("", path) == "" {
			return nil
		}
		return readPath(here+"."+part, *path, taken, wrong)
	}
	place := imagePlace{
		registry:   read("registry", m.Registry),
		repository: read("repository", m.Repository),
		tag:        read("tag", m.Tag),
		digest:     read("digest", m.Digest),
	}
	switch {
	case text("", m.Registry, m.Repository, m.Tag, m.Digest) == "":
		wrong.invalid(here, "has no path; set at least one of registry, repository, tag and digest")
	case text("", m.Registry) != "" && text("", m.Repository) == "":
		wrong.invalid(here+".registry", "has no repository path beside it; name both in one element of paths")
	}
	return place
}

// readPath parses a path and takes it, unless another mapping has it.
func readPath(here, text string, taken *pathTree, wrong *faults) Path {
	path, err := ParsePath(text)
	if err != nil {
		wrong.invalid(here, "%q is not a path: %s", text, err)
		return nil
	}
	if clash := taken.take(path, here); clash != "" {
		wrong.invalid(here, "%s", clash)
	}
	return path
}
