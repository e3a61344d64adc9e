// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// etcd answers as etcd's JSON gateway does, and ends every watch after each event.
type etcd struct {
	mu        sync.Mutex
	events    []map[string]any
	compacted bool
}

func (e *etcd) write(key string, value []byte) {
	e.add(map[string]any{"key": []byte(key), "value": value}, "PUT")
}

func (e *etcd) remove(key string) { e.add(map[string]any{"key": []byte(key)}, "DELETE") }

func (e *etcd) add(kv map[string]any, kind string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kv["mod_revision"] = strconv.Itoa(len(e.events) + 1)
	event := map[string]any{"kv": kv}
	if kind == "DELETE" {
		event["type"] = kind
	}
	e.events = append(e.events, event)
}

func (e *etcd) compact() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.compacted = true
}

func (e *etcd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Key    []byte `json:"key"`
		Create struct {
			Start int `json:"start_revision,string"`
		} `json:"create_request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		panic(err)
	}
	if r.URL.Path == "/v3/kv/put" {
		e.write(string(request.Key), nil)
		e.mu.Lock()
		defer e.mu.Unlock()
		fmt.Fprintf(w, `{"header":{"revision":"%d"}}`, len(e.events))
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintln(w, `{"result":{"created":true}}`)
	if e.compacted {
		fmt.Fprintln(w, `{"result":{"canceled":true,"compact_revision":"7"}}`)
		return
	}
	if request.Create.Start > len(e.events) {
		return
	}
	text, err := json.Marshal(map[string]any{"result": map[string]any{"events": e.events[request.Create.Start-1 : request.Create.Start]}})
	if err != nil {
		panic(err)
	}
	w.Write(append(text, '\n'))
}

func recorded(t *testing.T, e *etcd) *Recorder {
	t.Helper()
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	r, err := Record(t.Context(), server.URL, scheme.Scheme,
		Kind{"configmaps", func() client.Object { return &corev1.ConfigMap{} }},
		Kind{"namespaces", func() client.Object { return &corev1.Namespace{} }})
	require.NoError(t, err)
	return r
}

func asStored(t *testing.T, config *corev1.ConfigMap) []byte {
	t.Helper()
	config.TypeMeta = metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}
	var text bytes.Buffer
	require.NoError(t, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(config, &text))
	return text.Bytes()
}

func TestEveryStateIsRecordedOnce(t *testing.T) {
	e := &etcd{}
	r := recorded(t, e)
	name := types.NamespacedName{Namespace: "team", Name: "web"}
	for _, value := range []string{"one", "two"} {
		e.write("/registry/configmaps/team/web", asStored(t, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web"}, Data: map[string]string{"a": value}}))
	}
	e.write("/registry/namespaces/team", []byte(`{"metadata":{"name":"team"}}`))
	e.write("/registry/pods/team/web", []byte("not read"))
	e.remove("/registry/configmaps/team/web")
	e.remove("/registry/configmaps/team/older")
	changes, err := r.Changes(t.Context(), func(types.NamespacedName) bool { return true })
	require.NoError(t, err)
	var told []string
	for _, c := range changes {
		what := ""
		if config, is := c.Object.(*corev1.ConfigMap); is {
			what = config.Data["a"]
		}
		told = append(told, fmt.Sprint(c.Revision, " ", c.Name, " ", what, " ", c.Object.GetResourceVersion(), " ", c.Gone))
	}
	require.Equal(t, []string{"2 team/web one 2 false", "3 team/web two 3 false", "4 /team  4 false", "6 team/web two 3 true"}, told)

	some, err := r.Changes(t.Context(), func(n types.NamespacedName) bool { return n == name })
	require.NoError(t, err)
	require.Len(t, some, 3)
}

func TestAHistoryWithGapsIsNone(t *testing.T) {
	for what, spoil := range map[string]func(*etcd){
		"etcd has dropped what follows revision 1": (*etcd).compact,
		"/registry/configmaps/team/web: unexpected end of JSON input": func(e *etcd) {
			e.write("/registry/configmaps/team/web", []byte("{"))
		},
	} {
		e := &etcd{}
		r := recorded(t, e)
		e.mu.Lock()
		if len(e.events) != 1 { // the recorder's own
			t.Fatal(e.events)
		}
		e.mu.Unlock()
		spoil(e)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := r.Changes(ctx, func(types.NamespacedName) bool { return true })
		require.EqualError(t, err, "the history is not whole: "+what)
	}
}
