// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiproxy stands between an operator and its API server and does to the operator what a bad day does: it answers
// 429, 500, 409 and 504, answers late, loses answers to what was done, cuts watches and holds them up, so that caches are
// stale. What it does is a matter of chance, from a seed; how much of it, the Weather says.
package apiproxy

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Weather is how likely each fault is, of all requests that it can befall, from 0 to 1.
type Weather struct {
	TooManyRequests float64 // 429, "try again in a second", of all but watches
	InternalError   float64 // 500, of all but watches
	Conflict        float64 // 409, of writes to an object
	Timeout         float64 // 504 after Hang, of all but watches; nothing was done
	LostAnswer      float64 // the request is done, and the connection breaks before the answer, of writes
	Slow            float64 // the answer comes after Delay, of all but watches
	CutWatch        float64 // a watch ends, at each of its events
	HeldWatch       float64 // a watch stands still for Hold, at each of its events: what the operator reads is stale meanwhile
	Refuse          float64 // 503, of all requests, as of an API server that ends

	Hang, Delay, Hold time.Duration
	// Only watches of this resource are held up; empty: all.
	Only string
}

// Proxy is one; its methods may be called at the same time.
type Proxy struct {
	server *httptest.Server

	mu      sync.Mutex
	random  *rand.Rand
	weather Weather
	done    map[string]int // faults by name
	broken  chan struct{}  // closed when all watches are to be cut
}

// New starts a proxy to the API server of a configuration, whose credentials are not used: the client's are handed on.
func New(config *rest.Config, seed uint64) (*Proxy, error) {
	upstream, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return nil, err
	}
	p := &Proxy{random: rand.New(rand.NewPCG(seed, 1)), done: map[string]int{}, broken: make(chan struct{})}
	forward := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport:      transport,
		FlushInterval:  -1, // a watch's events are not to wait for more
		ModifyResponse: p.troubleAnswer,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       quiet,
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.troubleRequest(w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	p.server.Config.ErrorLog = quiet
	p.server.EnableHTTP2 = true
	p.server.StartTLS()
	return p, nil
}

// Close ends the proxy and all that goes through it.
func (p *Proxy) Close() {
	p.CutWatches()
	p.server.CloseClientConnections()
	p.server.Close()
}

// Kubeconfig writes a copy of a kubeconfig that leads through the proxy.
func (p *Proxy) Kubeconfig(from, to string) error {
	config, err := clientcmd.LoadFromFile(from)
	if err != nil {
		return err
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	for _, cluster := range config.Clusters {
		cluster.Server, cluster.CertificateAuthority, cluster.CertificateAuthorityData = p.server.URL, "", authority
	}
	text, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// Set changes the weather.
func (p *Proxy) Set(w Weather) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.weather = w
}

// CutWatches ends all watches that are open, and others that answer just now.
func (p *Proxy) CutWatches() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.broken)
	p.broken = make(chan struct{})
}

// Done are the faults so far, by their names in Weather.
func (p *Proxy) Done() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	copied := map[string]int{}
	for name, n := range p.done {
		copied[name] = n
	}
	return copied
}

// happens decides by chance, and counts.
func (p *Proxy) happens(name string, likely func(Weather) float64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	yes := p.random.Float64() < likely(p.weather)
	if yes {
		p.done[name]++
	}
	return yes
}

func (p *Proxy) now() (Weather, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.weather, p.broken
}

// troubleRequest says whether it has answered in the API server's place.
func (p *Proxy) troubleRequest(w http.ResponseWriter, r *http.Request) bool {
	weather, _ := p.now()
	switch {
	case p.happens("Refuse", func(w Weather) float64 { return w.Refuse }):
		answer(w, apierrors.NewServiceUnavailable("the API server is going away"))
	case isWatch(r):
		return false
	case p.happens("TooManyRequests", func(w Weather) float64 { return w.TooManyRequests }):
		answer(w, apierrors.NewTooManyRequests("too many requests, please try again later", 1))
	case p.happens("InternalError", func(w Weather) float64 { return w.InternalError }):
		answer(w, apierrors.NewInternalError(fmt.Errorf("etcdserver: leader changed")))
	case changes(r) && p.happens("Conflict", func(w Weather) float64 { return w.Conflict }):
		answer(w, apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, "this", fmt.Errorf("the object has been modified")))
	case p.happens("Timeout", func(w Weather) float64 { return w.Timeout }):
		pause(r, weather.Hang)
		answer(w, apierrors.NewTimeoutError("the server was unable to return a response in the time allotted", 1))
	default:
		if p.happens("Slow", func(w Weather) float64 { return w.Slow }) {
			pause(r, weather.Delay)
		}
		return false
	}
	return true
}

// troubleAnswer sees the API server's answer before the operator does.
func (p *Proxy) troubleAnswer(response *http.Response) error {
	switch {
	case isWatch(response.Request):
		_, broken := p.now()
		w := &watch{ReadCloser: response.Body, proxy: p, path: response.Request.URL.Path, broken: broken, over: make(chan struct{})}
		go w.breaks()
		response.Body = w
	case writes(response.Request) && p.happens("LostAnswer", func(w Weather) float64 { return w.LostAnswer }):
		response.Body.Close()
		return fmt.Errorf("the answer is lost")
	}
	return nil
}

// watch is the body of a watch's answer.
type watch struct {
	io.ReadCloser
	proxy  *Proxy
	path   string
	broken <-chan struct{}
	over   chan struct{}
	once   sync.Once
}

// breaks ends a watch also while nothing comes.
func (w *watch) breaks() {
	select {
	case <-w.broken:
		w.ReadCloser.Close()
	case <-w.over:
	}
}

func (w *watch) Close() error {
	w.once.Do(func() { close(w.over) })
	return w.ReadCloser.Close()
}

func (w *watch) Read(into []byte) (int, error) {
	n, err := w.ReadCloser.Read(into)
	if err != nil {
		return n, err
	}
	weather, _ := w.proxy.now()
	wait := time.Duration(0)
	switch {
	case w.proxy.happens("CutWatch", func(w Weather) float64 { return w.CutWatch }):
		return 0, io.ErrUnexpectedEOF
	case strings.HasSuffix(w.path, weather.Only) && w.proxy.happens("HeldWatch", func(w Weather) float64 { return w.HeldWatch }):
		wait = weather.Hold
	}
	if wait > 0 {
		select {
		case <-w.broken:
			return 0, io.ErrUnexpectedEOF
		case <-time.After(wait):
		}
	}
	return n, nil
}

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }

func writes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

func changes(r *http.Request) bool { return r.Method == http.MethodPut || r.Method == http.MethodPatch }

func pause(r *http.Request, duration time.Duration) {
	select {
	case <-r.Context().Done():
	case <-time.After(duration):
	}
}

// answer is that of an API server.
func answer(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.ErrStatus
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", "application/json")
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
	}
	w.WriteHeader(int(status.Code))
	// An error means that the asker has gone.
	_ = json.NewEncoder(w).Encode(status)
}
