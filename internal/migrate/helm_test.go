// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStoredReleases(t *testing.T) {
	good := packed(t, `{"name":"web-gw","version":3,"info":{"status":"deployed"},"chart":{"metadata":{"name":"gateway","version":"1.2.0"}},"config":{"a":1.0,"b":{"c":null}},"manifest":"---\n"}`)
	s, err := readStored(secret(good))
	require.NoError(t, err)
	require.Equal(t, "web-gw 3 deployed gateway 1.2.0", strings.Join([]string{s.Name, "3", s.Info.Status, s.Chart.Metadata.Name, s.Chart.Metadata.Version}, " "))
	require.Equal(t, 3, s.Revision)
	values, err := s.values()
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": int64(1), "b": map[string]any{"c": nil}}, values)
}

func TestWhatIsNoStoredRelease(t *testing.T) {
	for why, data := range map[string]string{
		"its key release is not base64: illegal base64 data at input byte 0":                                              "{}",
		"its key release is not packed with gzip: EOF":                                                                    "",
		"its key release is not packed with gzip: gzip: invalid header":                                                   base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 32)),
		"its key release does not unpack: unexpected EOF":                                                                 cut(t, packed(t, `{"name":"web-gw"}`)),
		"its key release holds no release: invalid character 'x' looking for beginning of value":                          packed(t, "x"),
		"its key release unpacks to more than 67108864 bytes":                                                             packed(t, strings.Repeat(" ", maxStored+1)),
		"its key release holds no release: json: cannot unmarshal string into Go struct field stored.version of type int": packed(t, `{"version":"3"}`),
	} {
		_, err := readStored(secret(data))
		require.EqualError(t, err, why)
	}
}

func TestTheHighestRevisionCounts(t *testing.T) {
	s, err := latest([]*corev1.Secret{secret(packed(t, `{"version":9}`)), secret(packed(t, `{"version":10}`)), secret(packed(t, `{"version":8}`))})
	require.NoError(t, err)
	require.Equal(t, 10, s.Revision)
	_, err = latest([]*corev1.Secret{secret(packed(t, `{"version":9}`)), secret("")})
	require.EqualError(t, err, "Secret shop/sh.helm.release.v1.web-gw.v1: its key release is not packed with gzip: EOF")
	none, err := latest(nil)
	require.NoError(t, err)
	require.Nil(t, none)
}

// The release names of WSO2's operator.
func TestReleaseNames(t *testing.T) {
	for _, row := range []struct {
		gateway, name string
		sure          bool
	}{
		{"web", "web-gw", true},
		{"platform-gw", "platform-gw-gw", true},
		{strings.Repeat("a", 36), strings.Repeat("a", 36) + "-gw", true},
		{strings.Repeat("a", 37), strings.Repeat("a", 37) + "-gw", false},
		{"gateway" + strings.Repeat("a", 37), "gateway" + strings.Repeat("a", 37) + "-gw", true},
		{"gateway" + strings.Repeat("a", 38), "gateway" + strings.Repeat("a", 38) + "-gw", false},
		{strings.Repeat("a", 50), strings.Repeat("a", 50) + "-gw", false},
		{strings.Repeat("a", 51), "", false},
	} {
		name, doubt := wso2ReleaseName(row.gateway)
		require.Equal(t, row.name, name, row.gateway)
		require.Equal(t, row.sure, doubt == "", row.gateway)
	}
	name, doubt := hyperShellReleaseName("agents")
	require.Equal(t, "openshell-gateway", name)
	require.Empty(t, doubt)
}

func secret(data string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "sh.helm.release.v1.web-gw.v1"},
		Data:       map[string][]byte{"release": []byte(data)},
	}
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, err := writer.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// cut is what is packed, without its end.
func cut(t *testing.T, packed string) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(packed)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(data[:len(data)-10])
}
