// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
)

// tool runs one of the commands that people use; a method of Cluster.
type tool func(*cluster.Cluster, context.Context, ...string) (string, error)

// command is a step that shows what a command prints.
func (d *demo) command(within time.Duration, run tool, line ...string) step {
	return step{"$ " + strings.Join(line, " "), within, cluster.APIServer, func(ctx context.Context) (string, error) {
		out, err := run(d.cluster, ctx, line[1:]...)
		return "\n" + out, err
	}}
}

const farewell = `
Ready %.0f s after the start, all of it in %.0f s. The cluster runs on. To look around:

  export KUBECONFIG=%s
  export PATH=%s:%s:$PATH    # sluice; kubectl, flux and helm
  kubectl get apigateway -A -o wide

The team's repository is %s: edit, commit, push, and watch Flux and Sluice
follow. Logs are in %s. To stop all of it: make demo-down
`

// farewell says how to go on.
func (d *demo) farewell() {
	d.report.print(fmt.Sprintf(farewell, d.ready.Seconds(), d.report.elapsed().Seconds(),
		d.cluster.Kubeconfig(), d.at.commands(), d.at.tools(), d.at.team(), d.at.logs()))
}

// explain says why a step failed, what all objects say, and where there is more to read. It returns what there is to say
// after that.
func (d *demo) explain(ctx context.Context, err error) error {
	var failed *stepError
	if !errors.As(err, &failed) {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted at the step %q", failed.step.name)
	}
	d.report.print("\nFAILED: " + failed.step.name + "\n")
	d.report.text(failed.err.Error())
	d.report.print("\nWhat the objects say\n")
	d.report.text(d.objects())
	d.report.print("\nWhere to read on\n")
	for _, process := range append([]string{failed.step.process}, d.endedProcesses()...) {
		d.report.text(d.at.log(process))
	}
	d.report.text("all logs: " + d.at.logs())
	return fmt.Errorf("failed at the step %q", failed.step.name)
}

// kinds whose conditions tell how far a commit has come, in the order of the flow.
var kinds = []schema.GroupVersionKind{
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepository"},
	kustomizationKind,
	v1alpha1.GroupVersion.WithKind(v1alpha1.APIGatewayClassKind),
	v1alpha1.GroupVersion.WithKind(v1alpha1.APIGatewayKind),
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "OCIRepository"},
	{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"},
}

// objects shows the conditions of every object of the kinds.
func (d *demo) objects() string {
	if d.client == nil {
		return "there is no cluster"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var text strings.Builder
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := d.client.List(ctx, list); err != nil {
			fmt.Fprintf(&text, "%s: %v\n", kind.Kind, err)
			continue
		}
		for _, object := range list.Items {
			fmt.Fprintf(&text, "%s %s\n%s", kind.Kind, strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/"), indented(object))
		}
	}
	return text.String()
}

func indented(object unstructured.Unstructured) string {
	var status struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	content, _, err := unstructured.NestedMap(object.Object, "status")
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, &status)
	}
	if err != nil {
		return fmt.Sprintf("  %v\n", err)
	}
	var text strings.Builder
	for line := range strings.Lines(table(status.Conditions, lineRoom)) {
		text.WriteString("  " + line)
	}
	return text.String()
}
