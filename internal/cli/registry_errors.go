// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// explainedPull makes of what a registry or its client says what people can do about it.
func explainedPull(err error, repository *remote.Repository) error {
	host := repository.Reference.Registry
	answer, answered := errors.AsType[*errcode.ErrorResponse](err)
	unreachable, isUnreachable := errors.AsType[*url.Error](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errdef.ErrNotFound), answered && answer.StatusCode == http.StatusNotFound:
		return errors.New("is not in the registry")
	case answered && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden):
		return fmt.Errorf("the registry does not let you in: log in first, as by docker login %s", host)
	case answered:
		return fmt.Errorf("the registry answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	case isUnreachable && strings.Contains(unreachable.Err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("the registry %s speaks HTTP; pass --plain-http, or set insecure: true in the class's chart", host)
	case isUnreachable:
		return fmt.Errorf("cannot reach the registry %s: %w", host, unreachable.Err)
	}
	return err
}
