// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"strconv"
	"strings"

	"github.com/distribution/reference"
)

// image is an OCI reference taken apart. A part that it does not have is empty.
type image struct {
	registry, repository, tag, digest string
}

// parseImage takes an OCI reference apart. Docker Hub is not put before a name without a registry, since a chart's own
// default registry may be meant: the first component is a registry only if it has a dot or a port, or is localhost.
func parseImage(text string) (image, error) {
	parsed, err := reference.Parse(text)
	if err != nil {
		return image{}, imageError(err)
	}
	var img image
	if tagged, ok := parsed.(reference.Tagged); ok {
		img.tag = tagged.Tag()
	}
	if digested, ok := parsed.(reference.Digested); ok {
		img.digest = digested.Digest().String()
	}
	named, ok := parsed.(reference.Named)
	if !ok {
		return image{}, errors.New("it has no repository")
	}
	img.registry, img.repository = splitRegistry(named.Name())
	if err := checkPort(img.registry); err != nil {
		return image{}, err
	}
	if img.repository != strings.ToLower(img.repository) {
		return image{}, imageError(reference.ErrNameContainsUppercase)
	}
	return img, nil
}

func splitRegistry(name string) (registry, repository string) {
	first, rest, found := strings.Cut(name, "/")
	if found && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return first, rest
	}
	return "", name
}

// portError: no host has such a port. The grammar of references takes any digits for one.
type portError struct{ port string }

func (e portError) Error() string { return "its port " + e.port + " is not within 1 to 65535" }

func checkPort(registry string) error {
	i := strings.LastIndex(registry, ":")
	if i < 0 || strings.HasSuffix(registry, "]") { // an address of IPv6 alone
		return nil
	}
	if port, err := strconv.ParseUint(registry[i+1:], 10, 16); err != nil || port == 0 {
		return portError{registry[i+1:]}
	}
	return nil
}

// imageError says in our words what the grammar refused.
func imageError(err error) error {
	switch {
	case errors.Is(err, reference.ErrNameContainsUppercase):
		return errors.New("a repository has no uppercase letters")
	case errors.Is(err, reference.ErrReferenceInvalidFormat):
		return errors.New("write it as registry/repository:tag@sha256:<64 hex digits>, where all but the repository may be left out")
	case errors.Is(err, reference.ErrNameEmpty):
		return errors.New("it has no repository")
	case errors.Is(err, reference.ErrNameTooLong):
		return errors.New("its repository has more than 255 characters")
	default:
		return errors.New("its digest is not sha256: and 64 lowercase hex digits")
	}
}
