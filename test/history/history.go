// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package history records every state of the objects of some namespaces, in the order in which etcd made them. It follows
// etcd itself, not the API server: a watch of that ends with the server and may then lack states, while etcd keeps them all
// over the death of either. For the fault suite, which judges states that lasted for a moment.
package history

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Change is one write: from it on, until the next of the same object, the object is as it says.
type Change struct {
	// Revision of etcd, the resourceVersion of the object; it orders all changes of all kinds.
	Revision int64
	// Seen is when we learned of it.
	Seen time.Time
	// Name of the object.
	Name types.NamespacedName
	// Object as it is; after its end as it was last, which an end always has before it.
	Object client.Object
	// Gone: this is the object's end.
	Gone bool
}

// Kind is a kind of objects that is recorded.
type Kind struct {
	// Path of the kind in the API server's storage: "configmaps", "helm.toolkit.fluxcd.io/helmreleases".
	Path string
	// New makes an empty object.
	New func() client.Object
}

// Recorder records until its context ends.
type Recorder struct {
	etcd   string
	kinds  []Kind
	decode runtime.Decoder

	mu      sync.Mutex
	changes []Change
	last    map[string]client.Object // by storage key
	seen    int64                    // the newest revision, of any key
	failed  error
}

// retryPause is how long a dead etcd is left alone.
const retryPause = 100 * time.Millisecond

// Record follows etcd from now on. The scheme knows the kinds that the API server stores in a form other than JSON.
func Record(ctx context.Context, etcd string, scheme *runtime.Scheme, kinds ...Kind) (*Recorder, error) {
	if etcd == "" {
		return nil, errors.New("an attached cluster tells no address of etcd")
	}
	r := &Recorder{
		etcd: etcd, kinds: kinds, last: map[string]client.Object{},
		decode: serializer.NewCodecFactory(scheme).UniversalDeserializer(),
	}
	now, err := r.revision(ctx)
	if err != nil {
		return nil, err
	}
	r.seen = now
	go r.follow(ctx)
	return r, nil
}

// Changes are those so far of the objects whose names are kept; it waits until the recorder has caught up with etcd.
func (r *Recorder) Changes(ctx context.Context, keep func(types.NamespacedName) bool) ([]Change, error) {
	now, err := r.revision(ctx)
	if err != nil {
		return nil, err
	}
	for {
		changes, seen, err := r.state()
		if err != nil {
			return nil, err
		}
		if seen >= now {
			return kept(changes, keep), nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the recorder is at revision %d, etcd at %d: %w", seen, now, ctx.Err())
		case <-time.After(retryPause / 4):
		}
	}
}

func kept(changes []Change, keep func(types.NamespacedName) bool) []Change {
	var some []Change
	for _, c := range changes {
		if keep(c.Name) {
			some = append(some, c)
		}
	}
	return some
}

func (r *Recorder) state() ([]Change, int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes[:len(r.changes):len(r.changes)], r.seen, r.failed
}

// root is where the API server stores everything.
const root = "/registry/"

// follow watches from where it was, again and again.
func (r *Recorder) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := r.watch(ctx)
		var fatal *lostError
		if errors.As(err, &fatal) {
			r.mu.Lock()
			r.failed = err
			r.mu.Unlock()
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

// lostError: states are lost, or not understood.
type lostError struct{ what string }

func (e *lostError) Error() string { return "the history is not whole: " + e.what }

// watch asks for all that is stored, since one stream alone has an order. etcd answers a JSON object a line, base64 within.
func (r *Recorder) watch(ctx context.Context) error {
	_, seen, _ := r.state()
	body, err := r.post(ctx, "/v3/watch", map[string]any{"create_request": map[string]any{
		"key": encoded(root), "range_end": encoded(endOf(root)), "start_revision": strconv.FormatInt(seen+1, 10),
		"progress_notify": true,
	}})
	if err != nil {
		return err
	}
	defer body.Close()
	lines := json.NewDecoder(body)
	for {
		var answer watchAnswer
		if err := lines.Decode(&answer); err != nil {
			return err
		}
		if answer.Result.CompactRevision != "" {
			return &lostError{fmt.Sprintf("etcd has dropped what follows revision %d", seen)}
		}
		if err := r.take(answer); err != nil {
			return err
		}
	}
}

type watchAnswer struct {
	Result struct {
		CompactRevision string `json:"compact_revision"`
		Events          []struct {
			Type string // DELETE; absent for a write
			KV   struct {
				Key, Value  []byte // base64
				ModRevision int64  `json:"mod_revision,string"`
			}
		}
	}
}

func (r *Recorder) take(answer watchAnswer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, event := range answer.Result.Events {
		if err := r.add(string(event.KV.Key), event.KV.Value, event.KV.ModRevision, event.Type == "DELETE"); err != nil {
			return err
		}
		r.seen = event.KV.ModRevision
	}
	return nil
}

func (r *Recorder) add(key string, value []byte, revision int64, gone bool) error {
	kind, name, ours := r.parse(key)
	if !ours {
		return nil
	}
	object := r.last[key]
	if gone && object == nil {
		return nil // it was there before the recorder was
	}
	if gone {
		delete(r.last, key)
	} else {
		object = kind.New()
		if err := r.read(value, object); err != nil {
			return &lostError{key + ": " + err.Error()}
		}
		object.SetResourceVersion(strconv.FormatInt(revision, 10))
		r.last[key] = object
	}
	r.changes = append(r.changes, Change{Revision: revision, Seen: time.Now(), Name: name, Object: object, Gone: gone})
	return nil
}

// read reads JSON, as objects of CRDs are stored, or what the API server writes for kinds of its own.
func (r *Recorder) read(value []byte, into client.Object) error {
	if bytes.HasPrefix(value, []byte("{")) {
		return json.Unmarshal(value, into)
	}
	_, _, err := r.decode.Decode(value, nil, into)
	return err
}

// parse reads a storage key: /registry/<path>/<namespace>/<name>, or without a namespace.
func (r *Recorder) parse(key string) (Kind, types.NamespacedName, bool) {
	for _, kind := range r.kinds {
		rest, ours := strings.CutPrefix(key, root+kind.Path+"/")
		if !ours {
			continue
		}
		if namespace, name, namespaced := strings.Cut(rest, "/"); namespaced {
			return kind, types.NamespacedName{Namespace: namespace, Name: name}, true
		}
		return kind, types.NamespacedName{Name: rest}, true
	}
	return Kind{}, types.NamespacedName{}, false
}

// marker is a key of ours, of which the API server knows nothing.
const marker = root + "history.sluice.dev"

// revision is etcd's, made by a write that the recorder will see.
func (r *Recorder) revision(ctx context.Context) (int64, error) {
	body, err := r.post(ctx, "/v3/kv/put", map[string]any{"key": encoded(marker)})
	if err != nil {
		return 0, err
	}
	defer body.Close()
	var answer struct {
		Header struct {
			Revision int64 `json:"revision,string"`
		}
	}
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return 0, fmt.Errorf("etcd: %w", err)
	}
	return answer.Header.Revision, nil
}

func (r *Recorder) post(ctx context.Context, path string, request any) (io.ReadCloser, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, r.etcd+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(post)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, 500)) // only to be shown
		return nil, fmt.Errorf("etcd: %s: %s", response.Status, text)
	}
	return response.Body, nil
}

func encoded(key string) string { return base64.StdEncoding.EncodeToString([]byte(key)) }

// endOf is the end of the range of keys with the prefix.
func endOf(prefix string) string { return prefix[:len(prefix)-1] + string(prefix[len(prefix)-1]+1) }
