// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The scripts of the pods run here as they stand, in a bash like that of the image, against servers of the test.

// requests records what a server was asked.
type requests struct {
	sync.Mutex
	seen []string
}

func (r *requests) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	r.Lock()
	defer r.Unlock()
	r.seen = append(r.seen, request.Method+" "+request.URL.Path)
}

func (r *requests) serve(t *testing.T) (port string) {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	return port
}

func TestPreStopTellsEnvoyToDrainAndWaits(t *testing.T) {
	t.Parallel()
	admin := &requests{}
	start := time.Now()
	output, err := preStop(t, admin.serve(t))
	require.NoError(t, err, output)
	assert.Equal(t, []string{"POST /healthcheck/fail"}, admin.seen)
	assert.GreaterOrEqual(t, time.Since(start), time.Second)
}

func TestPreStopWaitsAlsoWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	start := time.Now()
	output, err := preStop(t, closedPort(t))
	require.NoError(t, err, output)
	assert.GreaterOrEqual(t, time.Since(start), time.Second)
}

func preStop(t *testing.T, adminPort string) (output string, err error) {
	t.Helper()
	o := renderObjects(t, fmt.Sprintf("{admin: {port: %s}, drain: {seconds: 1}}", adminPort))
	return run(o.Deployment.Spec.Template.Spec.Containers[0].Lifecycle.PreStop.Exec.Command)
}

func TestPreStopWithoutAShell(t *testing.T) {
	t.Parallel()
	hook := renderObjects(t, "drain: {mode: Sleep, seconds: 9}").Deployment.Spec.Template.Spec.Containers[0].Lifecycle.PreStop
	assert.Nil(t, hook.Exec)
	assert.Equal(t, int64(9), hook.Sleep.Seconds)
}

func TestConnectionTestAsksEveryListener(t *testing.T) {
	t.Parallel()
	web := &requests{}
	httpPort, httpsPort := web.serve(t), web.serve(t)
	output, err := connectionTest(t, httpPort, httpsPort)
	require.NoError(t, err, output)
	assert.Equal(t, fmt.Sprintf("http: port %s answers\nhttps: port %s answers\n", httpPort, httpsPort), output)
	assert.Equal(t, []string{"GET /"}, web.seen)
}

func TestConnectionTestFails(t *testing.T) {
	t.Parallel()
	t.Run("when a listener is not there", func(t *testing.T) {
		t.Parallel()
		output, err := connectionTest(t, (&requests{}).serve(t), closedPort(t))
		assert.Error(t, err, output)
	})
	t.Run("when what answers does not speak HTTP", func(t *testing.T) {
		t.Parallel()
		output, err := connectionTest(t, babbler(t), (&requests{}).serve(t))
		assert.Error(t, err, output)
	})
}

// connectionTest runs the script of the chart's test with the Service's name replaced by this machine's address.
func connectionTest(t *testing.T, httpPort, httpsPort string) (output string, err error) {
	t.Helper()
	command := renderObjects(t, fmt.Sprintf(`
listeners:
  - {name: http, port: 8080, servicePort: %s, protocol: HTTP}
  - {name: https, port: 8443, servicePort: %s, protocol: HTTPS}
tls: {enabled: true, secret: {name: cert}}
`, httpPort, httpsPort)).Test.Spec.Template.Spec.Containers[0].Command
	script := command[len(command)-1]
	require.Contains(t, script, "host=shop-gateway\n")
	command[len(command)-1] = strings.Replace(script, "host=shop-gateway\n", "host=127.0.0.1\n", 1)
	return run(command)
}

func run(command []string) (output string, err error) {
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	return string(out), err
}

// closedPort is one that nothing listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return port
}

// babbler answers every connection with a line that is not HTTP.
func babbler(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Write([]byte("220 mail.example.com\r\n"))
			_ = connection.Close()
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}
