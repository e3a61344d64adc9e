// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/sluice-gateway/sluice/internal/plan"
)

// helmSecretType is that of the Secrets sh.helm.release.v1.<release>.v<revision>, in which Helm 3 and 4 store a release's
// revisions.
const helmSecretType = "helm.sh/release.v1"

const secretKind = "Secret"

// maxStored bounds what a stored revision unpacks to. Helm's own are held to a Secret's size when packed.
const maxStored = 64 << 20

// stored is what Helm says of one revision, as far as it is of use here.
type stored struct {
	Name     string `json:"name"`
	Revision int    `json:"version"`
	Info     struct {
		Status string `json:"status"`
	} `json:"info"`
	Chart struct {
		Metadata struct {
			Name       string `json:"name"`
			Version    string `json:"version"`
			AppVersion string `json:"appVersion"`
		} `json:"metadata"`
		// Templates are the chart's own, without those of its dependencies, whose versions Flux leaves as they are.
		Templates []chartFile `json:"templates"`
	} `json:"chart"`
	// Config are the values that were given, without the chart's own.
	Config   json.RawMessage `json:"config"`
	Manifest string          `json:"manifest"`
}

// readStored unpacks a Secret of Helm's: base64 (besides the Secret's own), gzip, JSON.
func readStored(secret *corev1.Secret) (*stored, error) {
	packed, err := base64.StdEncoding.DecodeString(string(secret.Data["release"]))
	if err != nil {
		return nil, fmt.Errorf("its key release is not base64: %w", err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("its key release is not packed with gzip: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(reader, maxStored+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("its key release does not unpack: %w", err)
	case len(data) > maxStored:
		return nil, fmt.Errorf("its key release unpacks to more than %d bytes", maxStored)
	}
	out := &stored{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("its key release holds no release: %w", err)
	}
	return out, nil
}

// latest is the highest of the revisions that are stored; history is not sorted.
func latest(secrets []*corev1.Secret) (*stored, error) {
	var highest *stored
	for _, secret := range secrets {
		s, err := readStored(secret)
		if err != nil {
			return nil, fmt.Errorf("%s %s/%s: %w", secretKind, secret.Namespace, secret.Name, err)
		}
		if highest == nil || s.Revision > highest.Revision {
			highest = s
		}
	}
	return highest, nil
}

// values are those that were given, in the form that the plan's have.
func (s *stored) values() (map[string]any, error) {
	if len(s.Config) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(s.Config))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, err
	}
	normal, problems := plan.NormalValues(decoded)
	if len(problems) > 0 {
		return nil, fmt.Errorf("the values of its revision %d: %s", s.Revision, strings.Join(problems, "; "))
	}
	values, _ := normal.(map[string]any)
	return values, nil
}
