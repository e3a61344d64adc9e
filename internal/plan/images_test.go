// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTakingAnImageApart(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for text, want := range map[string]image{
		"gw":                       {repository: "gw"},
		"gw:1.4":                   {repository: "gw", tag: "1.4"},
		"gw@" + digest:             {repository: "gw", digest: digest},
		"acme/gw":                  {repository: "acme/gw"},
		"acme/team/gw:latest":      {repository: "acme/team/gw", tag: "latest"},
		"acme/gw:1.4@" + digest:    {repository: "acme/gw", tag: "1.4", digest: digest},
		"docker.io/library/gw":     {registry: "docker.io", repository: "library/gw"},
		"registry.example.com/gw":  {registry: "registry.example.com", repository: "gw"},
		"registry:5000/gw":         {registry: "registry:5000", repository: "gw"},
		"registry:5000/acme/gw:1":  {registry: "registry:5000", repository: "acme/gw", tag: "1"},
		"localhost/gw":             {registry: "localhost", repository: "gw"},
		"localhost:5000/gw:1":      {registry: "localhost:5000", repository: "gw", tag: "1"},
		"127.0.0.1:5000/a/b/c/d:1": {registry: "127.0.0.1:5000", repository: "a/b/c/d", tag: "1"},
		"registry:65535/gw":        {registry: "registry:65535", repository: "gw"},
		"[::1]/gw:1":               {registry: "[::1]", repository: "gw", tag: "1"},
		"[::1]:5000/gw:1":          {registry: "[::1]:5000", repository: "gw", tag: "1"},
		"localhost:5000":           {repository: "localhost", tag: "5000"},
		"registry.example.com/acme/gw_x.y-z:1.4_rc.1-a@" + digest: {
			registry: "registry.example.com", repository: "acme/gw_x.y-z", tag: "1.4_rc.1-a", digest: digest},
		"Registry.Example.com/gw": {registry: "Registry.Example.com", repository: "gw"},
	} {
		img, err := parseImage(text)
		require.NoError(t, err, text)
		require.Equal(t, want, img, text)
	}
}

func TestWhatIsNoImageIsRefused(t *testing.T) {
	const (
		format = "write it as registry/repository:tag@sha256:<64 hex digits>, where all but the repository may be left out"
		upper  = "a repository has no uppercase letters"
	)
	for text, want := range map[string]string{
		"":                                      "it has no repository",
		"Acme/gw":                               upper,
		"acme/GW:1":                             upper,
		"registry.example.com/Acme/x":           upper,
		"acme/gw:":                              format,
		"acme/gw:a b":                           format,
		"acme//gw":                              format,
		"/gw":                                   format,
		"https://acme.example.com/gw":           format,
		"oci://acme.example.com/gw":             format,
		"gw@sha256:abc":                         format,
		"@sha256:" + strings.Repeat("0a", 32):   format,
		"gw@sha256:" + strings.Repeat("0A", 32): "its digest is not sha256: and 64 lowercase hex digits",
		"gw@sha256:" + strings.Repeat("0a", 33): "its digest is not sha256: and 64 lowercase hex digits",
		"gw@md5:" + strings.Repeat("0a", 16):    "its digest is not sha256: and 64 lowercase hex digits",
		"a.example.com/" + strings.Repeat("a", 256):       "its repository has more than 255 characters",
		"registry.example.com:99999/gw:1":                 "its port 99999 is not within 1 to 65535",
		"localhost:0/gw":                                  "its port 0 is not within 1 to 65535",
		"gw:" + strings.Repeat("1", 129):                  format,
		"registry.example.com/acme/gw:1.4 # with comment": format,
	} {
		_, err := parseImage(text)
		require.EqualError(t, err, want, text)
	}
}

func TestImages(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	const (
		all = "{registry: image.registry, repository: image.repository, tag: image.tag, digest: image.digest}"
		two = "{repository: image.repository, tag: image.tag}"
	)
	for name, c := range map[string]struct{ paths, image, want string }{
		"every part at its path": {
			all, "registry.example.com/acme/gw:1.4@" + digest,
			`{"image":{"digest":"` + digest + `","registry":"registry.example.com","repository":"acme/gw","tag":"1.4"}}`,
		},
		"a missing part leaves lower values": {
			all, "acme/gw",
			`{"image":{"registry":"lower","repository":"acme/gw","tag":"lower"}}`,
		},
		"a tag alone empties the digest, which would win over it": {
			all, "acme/gw:1.4",
			`{"image":{"digest":"","registry":"lower","repository":"acme/gw","tag":"1.4"}}`,
		},
		"a digest alone leaves the tag": {
			all, "acme/gw@" + digest,
			`{"image":{"digest":"` + digest + `","registry":"lower","repository":"acme/gw","tag":"lower"}}`,
		},
		"the registry before the repository, where it has no path": {
			two, "registry.example.com/acme/gw:1.4",
			`{"image":{"registry":"lower","repository":"registry.example.com/acme/gw","tag":"1.4"}}`,
		},
		"several places": {
			all + ", {repository: router.image}", "localhost:5000/gw:1",
			`{"image":{"digest":"","registry":"localhost:5000","repository":"gw","tag":"1"},"router":{"image":"localhost:5000/gw"}}`,
		},
		"parts in places of their own": {
			"{repository: image.repository}, {tag: image.tag}", "localhost/gw:1",
			`{"image":{"registry":"lower","repository":"localhost/gw","tag":"1"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, valuesOf(t,
				"spec: {values: {image: {registry: lower, tag: lower}}, imageMappings: [{name: gateway, paths: ["+c.paths+"]}]}",
				"spec: {infrastructure: {images: {gateway: '"+c.image+"'}}}", ""))
		})
	}
}

func TestImagesThatTheClassCannotPlaceAreRefused(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		mappings, images string
		want             []string
	}{
		"a name that it does not know": {
			"[{name: router, paths: [{tag: a}]}, {name: gateway, paths: [{repository: b}]}]", "{foo: gw, bar: gw}",
			[]string{
				`UnmappedField spec.infrastructure.images.bar: class wso2 knows no image "bar"; it knows: gateway, router`,
				`UnmappedField spec.infrastructure.images.foo: class wso2 knows no image "foo"; it knows: gateway, router`,
			},
		},
		"a tag and a digest without a path": {
			"[{name: gateway, paths: [{repository: a}]}]", "{gateway: 'gw:1@" + digest + "'}",
			[]string{
				"UnmappedField spec.infrastructure.images.gateway: class wso2 has no path for this image's tag, which is 1",
				"UnmappedField spec.infrastructure.images.gateway: class wso2 has no path for this image's digest, which is " + digest,
			},
		},
		"a repository without a path": {
			"[{name: gateway, paths: [{tag: a}]}]", "{gateway: 'registry.example.com/gw:1'}",
			[]string{"UnmappedField spec.infrastructure.images.gateway: class wso2 has no path for this image's repository, which is registry.example.com/gw"},
		},
		"what is no image": {
			"[{name: gateway, paths: [{repository: a}]}]", "{gateway: 'Acme/gw'}",
			[]string{`InvalidSpec spec.infrastructure.images.gateway: "Acme/gw" is not an image: a repository has no uppercase letters`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, refusal(t, input(t,
				"spec: {imageMappings: "+c.mappings+"}", "spec: {infrastructure: {images: "+c.images+"}}")))
		})
	}
}
