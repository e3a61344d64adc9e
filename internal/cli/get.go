// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/printers"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/story"
)

const getLong = `List APIGateways: class, whether each is ready, phase, chart version, Helm revision, age, and what Ready says, cut short.
-o wide has the source, the failed attempts, when the next one starts, and whole messages.`

const getExample = `  # All gateways of the cluster
  sluice get -A

  # One team's, with whole messages
  sluice get -n apis -l team=orders -o wide

  # What changes from now on
  sluice get -A --watch`

type getFlags struct {
	output   string
	selector string
	all      bool
	watch    bool
}

func newGet(streams Streams) *cobra.Command {
	var flags getFlags
	cmd := &cobra.Command{
		Use:     "get [NAME]",
		Short:   "List APIGateways",
		Long:    getLong,
		Example: getExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return errors.New("get: name one APIGateway, or none for all")
			}
			return nil
		},
	}
	connection := connect(cmd)
	cmd.ValidArgsFunction = connection.completeGateway
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := newListing(streams, flags, args)
		if err != nil {
			return err
		}
		if l.cluster, err = connection.open(streams.Err); err != nil {
			return err
		}
		return l.run(cmd.Context())
	}
	addOutput(cmd, &flags.output, "wide, json or yaml", "wide", "json", "yaml")
	cmd.Flags().StringVarP(&flags.selector, "selector", "l", "", "list only those with these labels, as in -l team=orders,tier!=test")
	cmd.Flags().BoolVarP(&flags.all, "all-namespaces", "A", false, "list those of all namespaces")
	cmd.Flags().BoolVarP(&flags.watch, "watch", "w", false, "go on with a line a change, until interrupted")
	return cmd
}

// listing is one run of get.
type listing struct {
	*cluster
	streams  Streams
	flags    getFlags
	name     string
	selector labels.Selector
	table    printers.ResourcePrinter
}

func newListing(streams Streams, flags getFlags, args []string) (*listing, error) {
	l := &listing{streams: streams, flags: flags}
	if len(args) == 1 {
		l.name = args[0]
	}
	if err := oneOf("--output", flags.output, "", "wide", "json", "yaml"); err != nil {
		return nil, err
	}
	if l.name != "" && (flags.all || flags.selector != "") {
		return nil, errors.New("get: a name goes with neither -A nor -l")
	}
	var err error
	if l.selector, err = labels.Parse(flags.selector); err != nil {
		return nil, fmt.Errorf("--selector %q: %w", flags.selector, err)
	}
	l.table = printers.NewTablePrinter(printers.PrintOptions{WithNamespace: flags.all})
	return l, nil
}

func (l *listing) run(ctx context.Context) error {
	if l.name != "" {
		if _, err := l.gateway(ctx, l.name); err != nil {
			return err
		}
	}
	list := &v1alpha1.APIGatewayList{}
	if err := l.List(ctx, list, l.options("")...); err != nil {
		return explained(err)
	}
	if len(list.Items) == 0 && !l.flags.watch && l.isTable() {
		fmt.Fprintln(l.streams.Err, l.nothing())
		return nil
	}
	if err := l.print(list); err != nil || !l.flags.watch {
		return err
	}
	return l.follow(ctx, list.ResourceVersion)
}

// options select what is listed, or watched from a version on.
func (l *listing) options(version string) []client.ListOption {
	options := []client.ListOption{client.MatchingLabelsSelector{Selector: l.selector}}
	if !l.flags.all {
		options = append(options, client.InNamespace(l.namespace))
	}
	if l.name != "" {
		options = append(options, client.MatchingFields{"metadata.name": l.name})
	}
	if version != "" {
		options = append(options, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}})
	}
	return options
}

func (l *listing) nothing() string {
	text := "there are no APIGateways"
	if l.flags.selector != "" {
		text += " with the labels " + l.flags.selector
	}
	if !l.flags.all {
		text += " in namespace " + l.namespace
	}
	return text
}

func (l *listing) isTable() bool { return l.flags.output == "" || l.flags.output == "wide" }

func (l *listing) print(list *v1alpha1.APIGatewayList) error {
	if l.isTable() {
		return l.rows(list.Items)
	}
	printer, err := l.printer()
	if err != nil {
		return err
	}
	kind := v1alpha1.GroupVersion.WithKind(v1alpha1.APIGatewayKind)
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(kind)
	}
	if l.name != "" || l.flags.watch {
		for i := range list.Items {
			if err := printer.PrintObj(&list.Items[i], l.streams.Out); err != nil {
				return err
			}
		}
		return nil
	}
	return printer.PrintObj(list, l.streams.Out)
}

func (l *listing) rows(gateways []v1alpha1.APIGateway) error {
	if len(gateways) == 0 {
		return nil
	}
	return l.table.PrintObj(story.List(gateways, l.flags.output == "wide", metav1.NewTime(time.Now())), l.streams.Out)
}

func (l *listing) printer() (printers.ResourcePrinter, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	var printer printers.ResourcePrinter = &printers.JSONPrinter{}
	if l.flags.output == "yaml" {
		printer = &printers.YAMLPrinter{}
	}
	return printers.NewTypeSetter(scheme).ToPrinter(&printers.OmitManagedFieldsPrinter{Delegate: printer}), nil
}

// follow prints each gateway that changes, from a version on. A watch that breaks off is taken up again where it was.
func (l *listing) follow(ctx context.Context, version string) error {
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, version, listWatch{l})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		switch o := event.Object.(type) {
		case *v1alpha1.APIGateway:
			if event.Type == watch.Bookmark {
				continue
			}
			if err := l.print(&v1alpha1.APIGatewayList{Items: []v1alpha1.APIGateway{*o}}); err != nil {
				return err
			}
		case *metav1.Status:
			return explained(apierrors.FromObject(o))
		}
	}
	return errors.New("get: the watch ended; run the command again")
}

// listWatch watches what a listing lists.
type listWatch struct{ *listing }

func (w listWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w.Watch(ctx, &v1alpha1.APIGatewayList{}, w.options(options.ResourceVersion)...)
}
