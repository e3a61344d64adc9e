// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// The registry's one user, and its password as htpasswd -B writes it.
const (
	registryUser     = "robot"
	registryPassword = "let-me-in"
	registryUsers    = registryUser + ":$2y$04$sluiceSluiceSluice123uh10EB4X9/oIEofh8mR8njn4LsdbbyEW\n"
)

// startRegistry starts a registry that lets in one user alone, by plain HTTP, until the test ends.
func startRegistry(t *testing.T) (address string) {
	t.Helper()
	address = freeAddress(t)
	folder := t.TempDir()
	users, config := filepath.Join(folder, "users"), filepath.Join(folder, "config.yaml")
	text, err := json.Marshal(map[string]any{ // JSON is YAML
		"version": "0.1", "log": map[string]any{"level": "error"}, "http": map[string]any{"addr": address},
		"storage": map[string]any{"filesystem": map[string]any{"rootdirectory": filepath.Join(folder, "data")}},
		"auth":    map[string]any{"htpasswd": map[string]any{"realm": "test", "path": users}},
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, users, registryUsers)
	write(t, config, string(text))
	cmd := exec.Command(tool(t, "registry"), "serve", config)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get("http://" + address + "/")
		if err == nil {
			answer.Body.Close()
			return address
		}
		if time.Now().After(deadline) {
			t.Fatalf("the registry does not answer: %v\n%s", err, said.String())
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// tool is a program of bin/tools.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../bin/tools", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run \"make tools\"", err)
	}
	return path
}

// push packs a chart of these values and pushes it by Helm to oci://<registry>/charts/gateway.
func push(t *testing.T, helm, registry, version, values string) {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "gateway", "Chart.yaml"), "apiVersion: v2\nname: gateway\nversion: "+version+"\n")
	write(t, filepath.Join(folder, "gateway", "values.yaml"), values)
	for _, args := range [][]string{
		{"package", filepath.Join(folder, "gateway"), "--destination", folder},
		{"push", filepath.Join(folder, "gateway-"+version+".tgz"), "oci://" + registry + "/charts", "--plain-http",
			"--username", registryUser, "--password", registryPassword},
	} {
		cmd := exec.Command(helm, args...)
		cmd.Env = []string{"HOME=" + folder}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("helm %v: %v\n%s", args, err, out)
		}
	}
}

// pushOther pushes what is no chart, tagged 1.0.0.
func pushOther(t *testing.T, registry string) {
	t.Helper()
	repository, err := remote.NewRepository(registry + "/charts/other")
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	repository.Client = &auth.Client{Credential: auth.StaticCredential(registry, auth.Credential{Username: registryUser, Password: registryPassword})}
	manifest, err := oras.PackManifest(t.Context(), repository, oras.PackManifestVersion1_1, "application/x.test", oras.PackManifestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := repository.Tag(t.Context(), manifest, "1.0.0"); err != nil {
		t.Fatal(err)
	}
}

// logIn writes docker's configuration file.
func logIn(t *testing.T, registry, password string) {
	t.Helper()
	folder := t.TempDir()
	login := base64.StdEncoding.EncodeToString([]byte(registryUser + ":" + password))
	write(t, filepath.Join(folder, "config.json"), `{"auths": {"`+registry+`": {"auth": "`+login+`"}}}`)
	t.Setenv("DOCKER_CONFIG", folder)
}

const pulledClass = `apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: sluice}
spec:
  chart: {url: oci://REGISTRY/charts/gateway, ref: {semver: "1.x"}, insecure: true}
  valueMappings: [{field: infrastructure.replicas, paths: [replicas]}]
---
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGateway
metadata: {name: web, namespace: apis}
spec: {className: sluice, chart: {tag: 1.0.0}, values: {logLevel: a, level: b}}
---
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGateway
metadata: {name: api, namespace: apis}
spec: {className: sluice, values: {logLevel: a, level: b}}
`

func TestChartsFromARegistry(t *testing.T) {
	helm := tool(t, "helm")
	registry := startRegistry(t)
	push(t, helm, registry, "1.0.0", "replicas: 1\nlogLevel: info\n")
	push(t, helm, registry, "1.2.0", "replicaCount: 1\nlevel: info\n")
	push(t, helm, registry, "1.3.0-rc.1", "{}\n")
	push(t, helm, registry, "2.0.0", "{}\n")
	pushOther(t, registry)
	const class = "APIGatewayClass sluice: spec.valueMappings[0].paths[0]: error: replicas is no value of the chart gateway "
	for what, c := range map[string]struct{ password, edit, args, want string }{
		"each its own version": {args: "--pull", want: "class.yaml:6: " + class + "1.2.0, which has no replicas at its top; did you mean replicaCount? (UnknownPath)\n" +
			"class.yaml:11: APIGateway apis/web: spec.values.level: warning: is no value of the chart gateway 1.0.0, which has no level at its top; did you mean logLevel? (UnknownValue)\n" +
			"class.yaml:16: APIGateway apis/api: spec.values.logLevel: warning: is no value of the chart gateway 1.2.0, which has no logLevel at its top; did you mean level? (UnknownValue)\n"},
		"an address": {args: "--plain-http --chart oci://REGISTRY/charts/gateway:2.0.0", want: "" +
			"class.yaml:5: APIGatewayClass sluice: spec.chart.ref.semver: warning: is \"1.x\", and the chart that was checked, gateway 2.0.0, is not that version; check the one that gateways get (ChartVersion)\n" +
			"class.yaml:6: " + class + "2.0.0, which has no replicas at its top (UnknownPath)\n" +
			"class.yaml:11: APIGateway apis/web: spec.chart: warning: asks for \"1.0.0\", so that the values are not checked: the chart given for class sluice is gateway 2.0.0 (NotChecked)\n" +
			"class.yaml:16: APIGateway apis/api: spec.values.level: warning: is no value of the chart gateway 2.0.0, which has no level at its top (UnknownValue)\n" +
			"class.yaml:16: APIGateway apis/api: spec.values.logLevel: warning: is no value of the chart gateway 2.0.0, which has no logLevel at its top (UnknownValue)\n"},
		"no login": {password: "wrong", args: "--pull",
			want: "sluice: oci://REGISTRY/charts/gateway: the registry does not let you in: log in first, as by docker login REGISTRY\n"},
		"no such tag": {args: "--plain-http --chart oci://REGISTRY/charts/gateway:3.0.0",
			want: "sluice: oci://REGISTRY/charts/gateway:3.0.0: is not in the registry\n"},
		"no such chart":  {edit: "charts/gateway=charts/gatway", args: "--pull", want: "sluice: oci://REGISTRY/charts/gatway: is not in the registry\n"},
		"none in range":  {edit: "1.x=3.x", args: "--pull", want: "sluice: oci://REGISTRY/charts/gateway: none of its 4 tags is within 3.x\n"},
		"another format": {args: "--plain-http --chart oci://REGISTRY/charts/other:1.0.0", want: "sluice: oci://REGISTRY/charts/other:1.0.0: is no chart: its manifest has no layer of the type application/vnd.cncf.helm.chart.content.v1.tar+gzip\n"},
		"HTTPS": {edit: "insecure: true=insecure: false", args: "--pull",
			want: "sluice: oci://REGISTRY/charts/gateway: the registry REGISTRY speaks HTTP; pass --plain-http, or set insecure: true in the class's chart\n"},
		"nobody there": {args: "--plain-http --chart oci://127.0.0.1:1/charts/gateway:1.0.0",
			want: "sluice: oci://127.0.0.1:1/charts/gateway:1.0.0: cannot reach the registry 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused\n"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if c.password == "" {
				c.password = registryPassword
			}
			logIn(t, registry, c.password)
			was, now, _ := strings.Cut(c.edit, "=")
			text := pulledClass
			if was != "" {
				text = strings.Replace(text, was, now, 1)
			}
			write(t, "class.yaml", strings.ReplaceAll(text, "REGISTRY", registry))
			args := strings.Fields("lint -f class.yaml " + strings.ReplaceAll(c.args, "REGISTRY", registry))
			_, stdout, stderr := sluice("", args...)
			if got := strings.ReplaceAll(stdout+stderr, registry, "REGISTRY"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// What a registry may answer that no registry of ours does.
func TestARegistryThatAnswersOtherwise(t *testing.T) {
	const tooMuch = 1 << 40
	manifest := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Docker-Content-Digest", digest.FromString(text).String())
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
			_, _ = w.Write([]byte(text))
		}
	}
	for what, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"it is broken": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "the registry answers 500 Internal Server Error"},
		"a manifest that is too large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Docker-Content-Digest", digest.FromString("").String())
			w.Header().Set("Content-Length", strconv.Itoa(tooMuch))
		}, "its manifest is larger than 4 MiB"},
		"a manifest that is none": {manifest("["), "its manifest: unexpected end of JSON input"},
		"a chart that is too large": {manifest(fmt.Sprintf(`{"layers": [{"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "size": %d}]}`, tooMuch)),
			"is larger than 32 MiB"},
	} {
		t.Run(what, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			t.Chdir(t.TempDir())
			t.Setenv("DOCKER_CONFIG", t.TempDir())
			write(t, "class.yaml", pulledClass)
			address := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts/gateway:1.0.0"
			code, stdout, stderr := sluice("", "lint", "-f", "class.yaml", "--plain-http", "--chart", address)
			if want := "sluice: " + address + ": " + c.want + "\n"; code != 1 || stdout != "" || stderr != want {
				t.Errorf("exit %d\n%s%s\nwant\n%s", code, stdout, stderr, want)
			}
		})
	}
}

func TestDockersConfigurationThatIsMalformed(t *testing.T) {
	t.Chdir(t.TempDir())
	folder := t.TempDir()
	write(t, filepath.Join(folder, "config.json"), "{")
	t.Setenv("DOCKER_CONFIG", folder)
	write(t, "class.yaml", pulledClass)
	const address = "oci://registry.example.com/charts/gateway:1.0.0"
	_, stdout, stderr := sluice("", "lint", "-f", "class.yaml", "--chart", address)
	want := "sluice: " + address + ": docker's configuration file: failed to decode config file " + filepath.Join(folder, "config.json") +
		": invalid config format: unexpected EOF\n"
	if got := stdout + stderr; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
