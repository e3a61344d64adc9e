// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificates are files that the API server and controller-manager read.
type certificates struct {
	authority         string // PEM certificate that signs the next
	serving           string // PEM certificate of the API server
	servingKey        string
	serviceAccountKey string // signs ServiceAccounts' tokens
}

// makeCertificates writes a cluster's certificates and keys, valid for a month, into dir.
func makeCertificates(dir string) (certificates, error) {
	files := certificates{
		authority:         filepath.Join(dir, "ca.crt"),
		serving:           filepath.Join(dir, "kube-apiserver.crt"),
		servingKey:        filepath.Join(dir, "kube-apiserver.key"),
		serviceAccountKey: filepath.Join(dir, "service-account.key"),
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return files, err
	}
	authority := template("sluice-test-ca")
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage = x509.KeyUsageCertSign
	authorityKey, err := signedPair(authority, authority, nil, files.authority, "")
	if err != nil {
		return files, err
	}
	serving := template("kube-apiserver")
	serving.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	serving.DNSNames = []string{"localhost", "kubernetes.default.svc"}
	serving.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if _, err := signedPair(serving, authority, authorityKey, files.serving, files.servingKey); err != nil {
		return files, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return files, err
	}
	return files, writeKey(files.serviceAccountKey, key)
}

func template(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // clocks that are set back a little do no harm
		NotAfter:     now.AddDate(0, 1, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

// signedPair makes a key and its certificate, signed by the parent (itself, with a nil parentKey), and writes the files named.
func signedPair(cert, parent *x509.Certificate, parentKey *ecdsa.PrivateKey, certFile, keyFile string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if parentKey == nil {
		parentKey = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, key.Public(), parentKey)
	if err != nil {
		return nil, err
	}
	if err := writePEM(certFile, "CERTIFICATE", der); err != nil {
		return nil, err
	}
	if keyFile == "" {
		return key, nil
	}
	return key, writeKey(keyFile, key)
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(file, "EC PRIVATE KEY", der)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
