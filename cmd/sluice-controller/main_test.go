// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain lets the test binary be the command, so that a test sees its exit code and what it prints.
func TestMain(m *testing.M) {
	if os.Getenv("SLUICE_CONTROLLER") == "" {
		os.Exit(m.Run())
	}
	main()
}

// command runs sluice-controller and returns its exit code and standard error.
func command(t *testing.T, args ...string) (int, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), "SLUICE_CONTROLLER=1")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	err = c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), stderr.String()
}

func TestStartFailsWithEverythingThatIsMissing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"paths":{}}`)
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}]}`, server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stderr := command(t, "--kubeconfig="+kubeconfig)
	want := `sluice-controller: HelmRelease (helm.toolkit.fluxcd.io/v2) is not served by this cluster: install Flux 2.9 or newer
OCIRepository (source.toolkit.fluxcd.io/v1) is not served by this cluster: install Flux 2.9 or newer
APIGateway (gateway.sluice.dev/v1alpha1) is not served by this cluster: apply the CRDs of this version of Sluice
APIGatewayClass (gateway.sluice.dev/v1alpha1) is not served by this cluster: apply the CRDs of this version of Sluice
`
	if code != 1 || stderr != want {
		t.Errorf("exit code %d, it says\n%s", code, stderr)
	}
}

func TestFaultyCommandLine(t *testing.T) {
	for what, c := range map[string]struct{ arg, want string }{
		"no workers":        {"--concurrent=0", "--concurrent is 0, and must be at least 1"},
		"no controllerName": {"--controller-name=", "--controller-name must not be empty"},
		"a level":           {"--log-level=loud", `--log-level is "loud": use debug, info or error`},
		"an encoding":       {"--log-encoding=xml", `--log-encoding is "xml": use json or console`},
		"a resource":        {"--watch-children=apps/v1/deployments", `--watch-children: "apps/v1/deployments" is neither group/version/Kind nor, of the core group, version/Kind, such as apps/v1/Deployment and v1/Service`},
		"no version":        {"--watch-children=v1/Service,Deployment", `--watch-children: "Deployment" is neither group/version/Kind nor, of the core group, version/Kind, such as apps/v1/Deployment and v1/Service`},
		"Secrets":           {"--watch-children=apps/v1/Deployment, v1/Secret", "--watch-children: v1/Secret: Secrets are never watched, leave it out: Flux corrects them at its interval"},
		"a selector":        {"--watch-label-selector=a in b", `--watch-label-selector: "a in b" is not a label selector, such as sharding.fluxcd.io/key=shard1 and, for what has no such label, !sharding.fluxcd.io/key: unable to parse requirement: found 'b' expected: '('`},
		"no namespace":      {"--watch-namespaces= , ", `--watch-namespaces is " , ", and names no namespace; leave it out to serve all`},
		"a blank between":   {"--watch-namespaces=shop bank", `--watch-namespaces: "shop bank" is not a namespace: lowercase letters, digits and -, at most 63, separated by commas`},
		"a wildcard":        {"--watch-namespaces=shop,*", `--watch-namespaces: "*" is not a namespace: lowercase letters, digits and -, at most 63, separated by commas`},
		"an argument":       {"start", `unexpected argument "start"`},
	} {
		code, stderr := command(t, c.arg)
		if want := "sluice-controller: " + c.want + "\n"; code != 1 || stderr != want {
			t.Errorf("%s: exit code %d, it says %s", what, code, stderr)
		}
	}
}
