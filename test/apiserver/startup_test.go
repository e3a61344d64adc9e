// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/controller"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// buildCommand builds sluice-controller as people do.
func buildCommand(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "sluice-controller")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/sluice-gateway/sluice/cmd/sluice-controller").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// ends runs the command, which must end by itself, and returns how and all that it says on standard error.
func ends(t *testing.T, binary, kubeconfig string, args ...string) (exit int, stderr string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, append([]string{"--kubeconfig=" + kubeconfig, "--metrics-addr=0", "--health-addr=" + freeAddress(t)}, args...)...)
	var said bytes.Buffer
	command.Stderr = &said
	kill := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
	defer kill.Stop()
	if err := command.Run(); err == nil {
		t.Fatal("it ended with exit code 0")
	}
	return command.ProcessState.ExitCode(), said.String()
}

func TestTheCommandSaysExactlyWhatItsStartLacks(t *testing.T) {
	w := newWorld(t)
	binary := buildCommand(t)
	kubeconfig, err := env.KubeconfigFor(w.ctx, operator.Namespace, operator.ServiceAccount)
	w.must(err)

	const wantIssuer = "EXTERNAL_CA_ISSUER_NAME required for Route passthrough mode on cluster hub\n"
	for _, mode := range []string{"route", "auto"} {
		exit, stderr := ends(t, binary, kubeconfig, "--exposure-mode="+mode, "--cluster-name=hub")
		equal(t, "exit code in mode "+mode, exit, 1)
		equal(t, "standard error in mode "+mode, stderr, wantIssuer)
	}
	exit, stderr := ends(t, binary, kubeconfig, "--exposure-mode=route")
	equal(t, "exit code without a cluster's name", exit, 1)
	equal(t, "standard error without a cluster's name", stderr, "EXTERNAL_CA_ISSUER_NAME required for Route passthrough mode on cluster in-cluster\n")

	// With Gateway API there it starts; mode route does not care.
	w.apply(gatewayAPI)
	defer w.dropCRD("gateways.gateway.networking.k8s.io")
	if _, err := env.Kubectl(w.ctx, "wait", "--for=condition=Established", "--timeout=30s", "crd/gateways.gateway.networking.k8s.io"); err != nil {
		t.Fatal(err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(env.RESTConfig())
	w.must(err)
	w.await("discovery to tell of Gateway API", func() error { // which it does a while after the CRD is established
		_, lists, err := discoverer.ServerGroupsAndResources()
		served := slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool { return list.GroupVersion == v1alpha1.GatewayAPIVersion })
		if err == nil && !served {
			err = fmt.Errorf("it tells of %d group versions", len(lists))
		}
		return err
	})
	process := w.startCommand("exposed", binary, kubeconfig, "--exposure-mode=auto", "--cluster-name=hub", "--controller-name=example.com/exposed")
	w.must(process.Stop())
	exit, stderr = ends(t, binary, kubeconfig, "--exposure-mode=route", "--cluster-name=hub")
	equal(t, "exit code with Gateway API", exit, 1)
	equal(t, "standard error with Gateway API", stderr, wantIssuer)
}

// gatewayAPI is as much of Gateway API as discovery shows.
const gatewayAPI = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gateways.gateway.networking.k8s.io
  annotations: {api-approved.kubernetes.io: "https://github.com/kubernetes-sigs/gateway-api/pull/2466"}
spec:
  group: gateway.networking.k8s.io
  scope: Namespaced
  names: {kind: Gateway, plural: gateways}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

func (w *world) dropCRD(name string) {
	w.Helper()
	if _, err := env.Kubectl(w.ctx, "delete", "crd", name, "--timeout=30s"); err != nil {
		w.Error(err)
	}
}

// Older CRDs of Flux and of Sluice itself, and none at all, on a real API server.
func TestTheCommandNamesTheCRDsThatAreMissingOrTooOld(t *testing.T) {
	stop(t)                                   // which needs them
	t.Cleanup(func() { begin(t, options()) }) // after they are there again
	w := &world{T: t, ctx: t.Context()}
	binary := buildCommand(t)
	kubeconfig, err := env.KubeconfigFor(w.ctx, operator.Namespace, operator.ServiceAccount)
	w.must(err)
	crds, err := apiextensions.NewForConfig(env.RESTConfig())
	w.must(err)
	client, err := discovery.NewDiscoveryClientForConfig(env.RESTConfig())
	w.must(err)

	for _, c := range []struct{ crd, path, want string }{
		{"helmreleases.helm.toolkit.fluxcd.io", "spec.upgrade.chartNameChangeStrategy",
			"HelmRelease (helm.toolkit.fluxcd.io/v2) has no field spec.upgrade.chartNameChangeStrategy: install Flux 2.9 or newer"},
		{"ocirepositories.source.toolkit.fluxcd.io", "spec.ref.semverFilter",
			"OCIRepository (source.toolkit.fluxcd.io/v1) has no field spec.ref.semverFilter: install Flux 2.9 or newer"},
		{"apigateways.gateway.sluice.dev", "spec.deletionPolicy",
			"APIGateway (gateway.sluice.dev/v1alpha1) has no field spec.deletionPolicy: apply the CRDs of this version of Sluice"},
		{"ocirepositories.source.toolkit.fluxcd.io", "",
			"OCIRepository (source.toolkit.fluxcd.io/v1) is not served by this cluster: install Flux 2.9 or newer"},
	} {
		restore := w.age(crds, c.crd, c.path)
		w.await("the API server tells of "+c.want, func() error {
			if err := controller.Preflight(client.OpenAPIV3()); err == nil || err.Error() != c.want {
				return fmt.Errorf("it says: %v", err)
			}
			return nil
		})
		exit, stderr := ends(t, binary, kubeconfig)
		restore()
		equal(t, "exit code", exit, 1)
		equal(t, "standard error", stderr, "sluice-controller: "+c.want+"\n")
	}
	w.await("everything is there again", func() error { return controller.Preflight(client.OpenAPIV3()) })
}

// age takes a field out of a CRD, or without a path the whole CRD out of the cluster. What it returns undoes that; so does the
// end of the test.
func (w *world) age(crds apiextensions.Interface, name, path string) (restore func()) {
	w.Helper()
	definitions := crds.ApiextensionsV1().CustomResourceDefinitions()
	crd, err := definitions.Get(w.ctx, name, metav1.GetOptions{})
	w.must(err)
	ctx := context.WithoutCancel(w.ctx)
	if path == "" {
		w.dropCRD(name)
		restore = sync.OnceFunc(func() {
			fresh := &apiextensionsv1.CustomResourceDefinition{Spec: crd.Spec}
			fresh.Name, fresh.Annotations, fresh.Labels = crd.Name, crd.Annotations, crd.Labels
			_, err := definitions.Create(ctx, fresh, metav1.CreateOptions{})
			w.must(err)
		})
	} else {
		older := crd.Spec.DeepCopy()
		for i := range older.Versions {
			drop(w.T, older.Versions[i].Schema.OpenAPIV3Schema, strings.Split(path, "."))
		}
		replace := func(spec apiextensionsv1.CustomResourceDefinitionSpec) {
			now, err := definitions.Get(ctx, name, metav1.GetOptions{})
			w.must(err)
			now.Spec = spec
			_, err = definitions.Update(ctx, now, metav1.UpdateOptions{})
			w.must(err)
		}
		replace(*older)
		restore = sync.OnceFunc(func() { replace(crd.Spec) })
	}
	w.Cleanup(restore)
	return restore
}

// drop takes a property out of a schema, and the rules beside it, which may name it.
func drop(t *testing.T, schema *apiextensionsv1.JSONSchemaProps, path []string) {
	t.Helper()
	schema.XValidations = nil
	child, ok := schema.Properties[path[0]]
	if !ok {
		t.Fatalf("the schema has no %s", path[0])
	}
	if len(path) == 1 {
		delete(schema.Properties, path[0])
		return
	}
	drop(t, &child, path[1:])
	schema.Properties[path[0]] = child
}

// A replica that may not read what it watches is alive and not ready, and gets ready once it may.
func TestReadyMeansThatAllThatIsWatchedHasBeenRead(t *testing.T) {
	w := newWorld(t)
	binary := buildCommand(t)
	w.apply(fmt.Sprintf("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: blind, namespace: %s}\n", w.ns))
	kubeconfig, err := env.KubeconfigFor(w.ctx, w.ns, "blind")
	w.must(err)
	health := freeAddress(t)
	process, err := env.StartProcess(w.ctx, cluster.ProcessSpec{
		Name: "blind", Path: binary, Grace: patience, ReadyURL: "http://" + health + "/healthz",
		Args: []string{"--kubeconfig=" + kubeconfig, "--controller-name=example.com/blind", "--health-addr=" + health, "--metrics-addr=0"},
	})
	w.must(err)
	code, body := read(t, "http://"+health+"/readyz")
	equal(t, "code while it may read nothing", code, http.StatusInternalServerError)
	equal(t, "body while it may read nothing", body, "[-]readyz failed: reason withheld\nhealthz check failed\n")

	w.apply(fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s-blind}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: sluice}
subjects: [{kind: ServiceAccount, name: blind, namespace: %[1]s}]
`, w.ns))
	w.await("readiness", func() error {
		if code, body := read(t, "http://"+health+"/readyz"); code != http.StatusOK {
			return fmt.Errorf("%d %s", code, body)
		}
		return nil
	})
	w.must(process.Stop())
}

func read(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(body)
}

func (w *world) startCommand(name, binary, kubeconfig string, args ...string) *cluster.Process {
	w.Helper()
	health := freeAddress(w.T)
	process, err := env.StartProcess(w.ctx, cluster.ProcessSpec{
		Name: name, Path: binary, Grace: patience, ReadyURL: "http://" + health + "/readyz",
		Args: append([]string{"--kubeconfig=" + kubeconfig, "--health-addr=" + health, "--metrics-addr=0"}, args...),
	})
	w.must(err)
	return process
}
