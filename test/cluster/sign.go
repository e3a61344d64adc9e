// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// The parts of a signature, by the names that cosign gives them.
const (
	manifestType        = "application/vnd.oci.image.manifest.v1+json"
	configType          = "application/vnd.oci.image.config.v1+json"
	signedTextType      = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureAnnotation = "dev.cosignproject.cosign/signature"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Sign signs a chart in the registry, as `cosign sign --key` does without a transparency log: the signature is an image at the
// tag sha256-<hex>.sig, whose one layer is the text that is signed.
func (r *PrivateRegistry) Sign(ctx context.Context, chart Chart, key *ecdsa.PrivateKey) error {
	text := fmt.Sprintf(`{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`,
		strings.TrimPrefix(chart.URL, "oci://"), chart.Digest)
	hash := sha256.Sum256([]byte(text))
	signature, err := ecdsa.SignASN1(rand.Reader, key, hash[:])
	if err != nil {
		return err
	}
	layer, err := r.pushBlob(ctx, chart, signedTextType, []byte(text))
	if err != nil {
		return err
	}
	layer.Annotations = map[string]string{signatureAnnotation: base64.StdEncoding.EncodeToString(signature)}
	config, err := r.pushBlob(ctx, chart, configType, []byte("{}"))
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layer},
	})
	if err != nil {
		return err
	}
	tag := strings.Replace(chart.Digest, ":", "-", 1) + ".sig"
	_, err = r.send(ctx, http.MethodPut, r.repository(chart)+"/manifests/"+tag, manifestType, manifest, http.StatusCreated)
	return err
}

func (r *PrivateRegistry) repository(chart Chart) string {
	return "http://" + r.Address + "/v2/charts/" + chart.Name
}

// pushBlob uploads a blob beside the chart.
func (r *PrivateRegistry) pushBlob(ctx context.Context, chart Chart, mediaType string, data []byte) (descriptor, error) {
	blob := descriptor{MediaType: mediaType, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(data)), Size: len(data)}
	upload, err := r.send(ctx, http.MethodPost, r.repository(chart)+"/blobs/uploads/", "", nil, http.StatusAccepted)
	if err != nil {
		return blob, err
	}
	query := upload.Query()
	query.Set("digest", blob.Digest)
	upload.RawQuery = query.Encode()
	_, err = r.send(ctx, http.MethodPut, upload.String(), "application/octet-stream", data, http.StatusCreated)
	return blob, err
}

// send makes a request as the registry's user and returns where the answer sends one on.
func (r *PrivateRegistry) send(ctx context.Context, method, address, contentType string, body []byte, want int) (*url.URL, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(r.User, r.Password)
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != want {
		return nil, fmt.Errorf("%s %s: %s instead of %d", method, address, response.Status, want)
	}
	return response.Location()
}
