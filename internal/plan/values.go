// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// planValues merges every layer of values but valuesFrom, lowest first: the class's values, what it adds for the target
// cluster and when fields are set, the mapped fields and images, configRef, spec.values. Nil where nothing is set.
func planValues(in Input, release Release, r rules, wrong *faults) []byte {
	gateway := in.Gateway
	fields := fieldValues(gateway, release, wrong)
	settings := slices.Concat(
		r.mapFields(fields, wrong),
		r.mapImages(deref(gateway.Spec.Infrastructure).Images, wrong),
	)
	above := []layer{
		readConfig(gateway, in.Config, wrong),
		{name: "spec.values", values: freeValues(gateway, wrong)},
	}
	refuseConflicts(settings, above, wrong)

	given := r.whenSet(fields, r.forTarget(targetOf(gateway, in.Environment), wrong))
	tree := apply(settings, given)
	for _, l := range above {
		tree = merge(tree, l.values)
	}
	if len(tree) == 0 {
		return nil
	}
	encoded := encode(tree)
	checkSize(tree, encoded, append([]layer{{name: "APIGatewayClass/" + r.class, values: given}}, above...), wrong)
	return encoded
}

func freeValues(gateway *v1alpha1.APIGateway, wrong *faults) map[string]any {
	return readValues("spec.values", gateway.Spec.Values, wrong)
}

// apply sets what the mappings say, upon a copy of the values below them.
func apply(settings []setting, below map[string]any) map[string]any {
	tree := clone(below)
	for _, s := range settings {
		tree = s.path.set(tree, clone(s.value))
	}
	return tree.(map[string]any)
}

// whenSet lays over values, in the class's order, what it adds for the fields that are set.
func (r rules) whenSet(fields, below map[string]any) map[string]any {
	merged := below
	for _, rule := range r.fields {
		if _, set := fields[rule.field.name]; set {
			merged = merge(merged, rule.whenSet)
		}
	}
	return merged
}

// mapFields puts the fields that are set at their paths, and refuses those that the class does not map or allow.
func (r rules) mapFields(fields map[string]any, wrong *faults) []setting {
	var settings []setting
	mapped := map[string]bool{}
	for _, rule := range r.fields {
		mapped[rule.field.name] = true
		v, set := fields[rule.field.name]
		if !set {
			continue
		}
		r.checkAllowed(rule, v, wrong)
		for _, path := range rule.paths {
			settings = append(settings, setting{field: rule.field.inGateway(), path: path, value: v})
		}
	}
	for _, field := range mappableFields {
		if _, set := fields[field.name]; set && !mapped[field.name] && !field.given {
			wrong.add(v1alpha1.ReasonUnmappedField, field.inGateway(),
				"class %s does not map this field; remove it, or set the chart's own key in spec.values", r.class)
		}
	}
	return settings
}

func (r rules) checkAllowed(rule fieldRule, v any, wrong *faults) {
	if given := fmt.Sprint(v); len(rule.allowed) > 0 && !slices.Contains(rule.allowed, given) {
		wrong.invalid(rule.field.inGateway(), "class %s does not allow %q; it allows: %s", r.class, given, listed(rule.allowed))
	}
}

// mapImages puts the parts of the gateway's images at their paths.
func (r rules) mapImages(images map[string]string, wrong *faults) []setting {
	var settings []setting
	for _, name := range slices.Sorted(maps.Keys(images)) {
		if images[name] == "" {
			continue
		}
		field := "spec.infrastructure.images." + name
		rule, known := r.image(name)
		if !known {
			wrong.add(v1alpha1.ReasonUnmappedField, field, "class %s knows no image %q; it knows: %s", r.class, name, listed(r.imageNames()))
			continue
		}
		img, err := parseImage(images[name])
		if err != nil {
			wrong.invalid(field, "%q is not an image: %s", images[name], err)
			continue
		}
		r.refuseHomeless(field, img, rule, wrong)
		settings = append(settings, rule.settings(field, img)...)
	}
	return settings
}

func (r rules) image(name string) (imageRule, bool) {
	i := slices.IndexFunc(r.images, func(rule imageRule) bool { return rule.name == name })
	if i < 0 {
		return imageRule{}, false
	}
	return r.images[i], true
}

func (r rules) imageNames() []string {
	var known []string
	for _, rule := range r.images {
		known = append(known, rule.name)
	}
	slices.Sort(known)
	return known
}

// refuseHomeless refuses the parts of an image that the class has no path for at all.
func (r rules) refuseHomeless(field string, img image, rule imageRule, wrong *faults) {
	var repository, tag, digest bool
	for _, place := range rule.places {
		repository = repository || place.repository != nil
		tag = tag || place.tag != nil
		digest = digest || place.digest != nil
	}
	for _, part := range []struct {
		name, text string
		home       bool
	}{
		{"repository", strings.TrimPrefix(img.registry+"/"+img.repository, "/"), repository},
		{"tag", img.tag, tag},
		{"digest", img.digest, digest},
	} {
		if part.text != "" && !part.home {
			wrong.add(v1alpha1.ReasonUnmappedField, field, "class %s has no path for this image's %s, which is %s", r.class, part.name, part.text)
		}
	}
}

// settings puts the parts that the image has at their paths. Without a path of its own the registry goes before the
// repository; a part that the image lacks leaves lower values as they are. But a digest of lower values, be they the chart's own,
// is that of another tag, and would win over the one that is asked for: a tag alone empties it, as charts have it for none.
func (rule imageRule) settings(field string, img image) []setting {
	var settings []setting
	put := func(path Path, part string) {
		if path != nil && part != "" {
			settings = append(settings, setting{field: field, path: path, value: part})
		}
	}
	for _, place := range rule.places {
		repository := img.repository
		if place.registry == nil && img.registry != "" {
			repository = img.registry + "/" + repository
		}
		put(place.registry, img.registry)
		put(place.repository, repository)
		put(place.tag, img.tag)
		put(place.digest, img.digest)
		if place.digest != nil && img.digest == "" && img.tag != "" {
			settings = append(settings, setting{field: field, path: place.digest, value: ""})
		}
	}
	return settings
}
