// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiproxy

import (
	"io"
	"log"
)

// quiet: connections that break are what this is for.
var quiet = log.New(io.Discard, "", 0)
