// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// The command itself, beside the operator of the other tests: it has the rights that it needs to lead, serves the classes of
// its own controller name alone, and ends in order.
func TestCommandLeadsServesItsClassesAndEnds(t *testing.T) {
	w := newWorld(t)
	binary := filepath.Join(t.TempDir(), "sluice-controller")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/sluice-gateway/sluice/cmd/sluice-controller").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	kubeconfig, err := env.KubeconfigFor(w.ctx, operator.Namespace, operator.ServiceAccount)
	w.must(err)
	health := freeAddress(t)
	process, err := env.StartProcess(w.ctx, cluster.ProcessSpec{
		Name: "second", Path: binary, Grace: patience, ReadyURL: "http://" + health + "/readyz",
		Args: []string{"--kubeconfig=" + kubeconfig, "--controller-name=example.com/second", "--enable-leader-election",
			"--health-addr=" + health, "--metrics-addr=0", "--log-level=debug", "--log-encoding=console"},
		Env: []string{"RUNTIME_NAMESPACE=" + operator.Namespace},
	})
	w.must(err)
	w.awaitLeader("example.com-second")

	w.patchClass(`{"spec":{"controllerName":"example.com/second"}}`)
	w.gateway("web", "values: {}")
	w.awaitRelease("web", "exists", nil)
	equal(t, "made by", w.sources()[0].Annotations[v1alpha1.AnnotationMadeBy], "example.com/second")
	w.awaitGone(w.delete("web"))

	w.must(process.Stop())
	status, err := process.Status()
	w.must(err)
	equal(t, "exit", status.Exit, "exit status 0")
}

func (w *world) awaitLeader(lease string) {
	w.Helper()
	clients, err := kubernetes.NewForConfig(env.RESTConfig())
	w.must(err)
	w.await("a leader", func() error {
		var held *coordinationv1.Lease
		held, err := clients.CoordinationV1().Leases(operator.Namespace).Get(w.ctx, lease, metav1.GetOptions{})
		if err == nil && (held.Spec.HolderIdentity == nil || *held.Spec.HolderIdentity == "") {
			err = fmt.Errorf("nobody holds the lease")
		}
		return err
	})
	w.await("the event of the election", func() error {
		list, err := clients.CoreV1().Events(operator.Namespace).List(w.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.InvolvedObject.Name == lease && e.Type == corev1.EventTypeNormal && strings.Contains(e.Message, "became leader") {
				return nil
			}
		}
		return fmt.Errorf("there is none among %d", len(list.Items))
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := cluster.FreeAddress()
	must(t, err)
	return address
}
