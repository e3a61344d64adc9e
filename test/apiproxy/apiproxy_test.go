// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiproxy

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// world is a server, a proxy to it, and a client of that.
type world struct {
	*testing.T
	proxy  *Proxy
	client *http.Client
	url    string
	writes atomic.Int64
}

// newWorld has a server that answers with the credentials that it was shown, and at /watch with a line every 10 ms.
func newWorld(t *testing.T) *world {
	w := &world{T: t}
	server := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			if r.Method != http.MethodGet {
				w.writes.Add(1)
			}
			fmt.Fprint(out, r.URL.Path, " ", r.Header.Get("Authorization"))
			return
		}
		for i := 0; r.Context().Err() == nil; i++ {
			fmt.Fprintln(out, i)
			out.(http.Flusher).Flush()
			if r.URL.Path == "/still" {
				<-r.Context().Done()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}))
	t.Cleanup(server.Close)
	proxy, err := New(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, 1)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	config := w.through(proxy, server.URL)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	w.proxy, w.client, w.url = proxy, &http.Client{Transport: transport}, config.Host
	return w
}

func (w *world) through(proxy *Proxy, server string) *rest.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server, InsecureSkipTLSVerify: false}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "secret"}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	from, to := filepath.Join(w.TempDir(), "from"), filepath.Join(w.TempDir(), "to")
	require.NoError(w, clientcmd.WriteToFile(*config, from))
	require.NoError(w, proxy.Kubeconfig(from, to))
	through, err := clientcmd.BuildConfigFromFlags("", to)
	require.NoError(w, err)
	return through
}

func (w *world) ask(method, path string) (*http.Response, error) {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), method, w.url+path, nil)
	require.NoError(w, err)
	return w.client.Do(request)
}

func (w *world) answers(method, path string) (int, string) {
	w.Helper()
	response, err := w.ask(method, path)
	require.NoError(w, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(w, err)
	return response.StatusCode, string(text)
}

func TestInGoodWeatherAllPasses(t *testing.T) {
	w := newWorld(t)
	code, text := w.answers(http.MethodGet, "/api")
	require.Equal(t, "200 /api Bearer secret", fmt.Sprint(code, " ", text))
	require.Empty(t, w.proxy.Done())
}

func TestFaultsInTheServersPlace(t *testing.T) {
	for name, c := range map[string]struct {
		weather Weather
		method  string
		code    int
		reason  string
	}{
		"TooManyRequests": {Weather{TooManyRequests: 1}, http.MethodGet, 429, "TooManyRequests"},
		"InternalError":   {Weather{InternalError: 1}, http.MethodPost, 500, "InternalError"},
		"Conflict":        {Weather{Conflict: 1}, http.MethodPut, 409, "Conflict"},
		"Timeout":         {Weather{Timeout: 1}, http.MethodGet, 504, "Timeout"},
		"Refuse":          {Weather{Refuse: 1}, http.MethodGet, 503, "ServiceUnavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.proxy.Set(c.weather)
			code, text := w.answers(c.method, "/api")
			require.Equal(t, c.code, code)
			require.Contains(t, text, `"reason":"`+c.reason+`"`)
			require.Equal(t, map[string]int{name: 1}, w.proxy.Done())
			require.Zero(t, w.writes.Load())
		})
	}
}

func TestAConflictBefallsOnlyWhatChangesAnObject(t *testing.T) {
	w := newWorld(t)
	w.proxy.Set(Weather{Conflict: 1})
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		code, _ := w.answers(method, "/api")
		require.Equal(t, 200, code)
	}
}

func TestAnAnswerIsLostAfterTheDeed(t *testing.T) {
	w := newWorld(t)
	w.proxy.Set(Weather{LostAnswer: 1})
	_, err := w.ask(http.MethodPost, "/api")
	require.Error(t, err)
	require.EqualValues(t, 1, w.writes.Load())
	code, _ := w.answers(http.MethodGet, "/api")
	require.Equal(t, 200, code)
}

func TestASlowAnswerIsTheServers(t *testing.T) {
	w := newWorld(t)
	w.proxy.Set(Weather{Slow: 1, Delay: 200 * time.Millisecond})
	begin := time.Now()
	code, _ := w.answers(http.MethodGet, "/api")
	require.Equal(t, 200, code)
	require.GreaterOrEqual(t, time.Since(begin), 200*time.Millisecond)
}

// watch opens a watch and returns its lines.
func (w *world) watch(path string) *bufio.Reader {
	w.Helper()
	response, err := w.ask(http.MethodGet, path+"?watch=true")
	require.NoError(w, err)
	w.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewReader(response.Body)
	line, err := lines.ReadString('\n')
	require.NoError(w, err)
	require.Equal(w, "0\n", line)
	return lines
}

func TestWatchesAreCut(t *testing.T) {
	for what, cut := range map[string]func(*Proxy){
		"by chance": func(p *Proxy) { p.Set(Weather{CutWatch: 1}) },
		"all":       (*Proxy).CutWatches,
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			lines := w.watch("/watched")
			cut(w.proxy)
			_, err := io.Copy(io.Discard, lines)
			require.Error(t, err)
		})
	}
	w := newWorld(t)
	lines := w.watch("/still")
	w.proxy.CutWatches()
	_, err := lines.ReadString('\n')
	require.Error(t, err, "a watch on which nothing comes")
}

func TestAHeldWatchLosesNothing(t *testing.T) {
	w := newWorld(t)
	lines := w.watch("/watched")
	w.proxy.Set(Weather{HeldWatch: 1, Hold: 300 * time.Millisecond})
	begin := time.Now()
	for i := 1; time.Since(begin) < 200*time.Millisecond; i++ { // what was on its way
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), strings.TrimSpace(line))
	}
	require.NotZero(t, w.proxy.Done()["HeldWatch"])
}

func TestOnlyOneResourceIsHeldUp(t *testing.T) {
	w := newWorld(t)
	w.proxy.Set(Weather{HeldWatch: 1, Hold: time.Hour, Only: "/others"})
	lines := w.watch("/watched")
	_, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Empty(t, w.proxy.Done())
}

func TestTheSameSeedMakesTheSameDay(t *testing.T) {
	day := func() string {
		p := newWorld(t).proxy
		p.Set(Weather{InternalError: 0.5})
		var text strings.Builder
		for range 64 {
			fmt.Fprint(&text, p.happens("InternalError", func(w Weather) float64 { return w.InternalError }))
		}
		return text.String()
	}
	require.Equal(t, day(), day())
}
