// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// kubernetes starts etcd and the API server, and then all that hangs on it at the same time.
func (s *starter) kubernetes(ctx context.Context) error {
	for _, makeSpec := range []specMaker{s.etcd, s.apiServer} {
		if err := s.startComponent(ctx, makeSpec); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.startControllerManager(ctx) })
	if s.options.Parts.haveCRDs() {
		group.Go(func() error { return s.startFlux(ctx) })
	}
	if s.options.Parts.runPods() {
		group.Go(func() error { return s.startComponent(ctx, s.scheduler) })
		group.Go(func() error { return s.startNodes(ctx) })
	}
	return group.Wait()
}

func (s *starter) etcd() (ProcessSpec, error) {
	addresses, err := freeAddresses(2)
	if err != nil {
		return ProcessSpec{}, err
	}
	client, peer := "http://"+addresses[0], "http://"+addresses[1]
	s.cluster.etcd = client
	return ProcessSpec{
		Name: Etcd, Path: s.layout.Bin(Etcd), ReadyURL: client + "/health",
		Args: []string{
			"--name=default", "--data-dir=" + s.path("data", "etcd"), "--log-level=warn",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
			"--unsafe-no-fsync", // the data are thrown away; what is lost is only time
		},
	}, nil
}

func (s *starter) apiServer() (ProcessSpec, error) {
	port, err := freePort()
	if err != nil {
		return ProcessSpec{}, err
	}
	s.apiServerURL = "https://" + address(port)
	if err := s.writeKubeconfigs(); err != nil {
		return ProcessSpec{}, err
	}
	return ProcessSpec{
		Name: APIServer, Path: s.layout.Bin(APIServer), ReadyURL: s.apiServerURL + "/readyz",
		Args: []string{
			"--etcd-servers=" + s.cluster.etcd,
			"--bind-address=127.0.0.1", portFlag("--secure-port", port), "--advertise-address=127.0.0.1",
			"--endpoint-reconciler-type=none", // Endpoints may not hold a loopback address
			"--service-cluster-ip-range=10.96.0.0/16",
			"--tls-cert-file=" + s.certs.serving, "--tls-private-key-file=" + s.certs.servingKey,
			"--authorization-mode=RBAC", "--token-auth-file=" + s.path("certs", "tokens.csv"),
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + s.certs.serviceAccountKey,
			"--service-account-signing-key-file=" + s.certs.serviceAccountKey,
			"--disable-admission-plugins=ServiceAccount", // no pod here needs a token, nor has to wait for its ServiceAccount
			"--allow-privileged",
			"--audit-policy-file=" + s.path("certs", "audit-policy.yaml"), "--audit-log-path=" + auditLog(s.options.Dir),
			"--audit-log-maxsize=4000", // MB; readers know one file alone
			"--profiling=false",
		},
	}, nil
}

func (s *starter) startControllerManager(ctx context.Context) error {
	if err := s.startComponent(ctx, s.controllerManager); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(s.cluster.restConfig)
	if err != nil {
		return err
	}
	// Healthy is not yet at work. Its first visible work is a ServiceAccount in every namespace.
	return Await(ctx, defaultReadyTimeout, "ServiceAccount default in namespace default", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func (s *starter) controllerManager() (ProcessSpec, error) {
	return s.kubeController(ControllerManager,
		"--use-service-account-credentials", // else it lacks the rights that RBAC gives to each controller
		"--service-account-private-key-file="+s.certs.serviceAccountKey,
		"--root-ca-file="+s.certs.authority,
		// kwok's nodes send no heartbeats, and a pod that loses its readiness with its node does not get it back.
		"--node-monitor-grace-period=240h",
	)
}

func (s *starter) scheduler() (ProcessSpec, error) { return s.kubeController(Scheduler) }

// kubeController is the spec of a Kubernetes component that acts on the API server.
func (s *starter) kubeController(name string, args ...string) (ProcessSpec, error) {
	port, err := freePort()
	if err != nil {
		return ProcessSpec{}, err
	}
	return ProcessSpec{
		Name: name, Path: s.layout.Bin(name), ReadyURL: "https://" + address(port) + "/healthz",
		Args: append([]string{
			"--kubeconfig=" + kubeconfigFile(s.options.Dir, name), "--leader-elect=false",
			"--bind-address=127.0.0.1", portFlag("--secure-port", port),
			"--kube-api-qps=500", "--kube-api-burst=1000", "--profiling=false",
		}, args...),
	}, nil
}
