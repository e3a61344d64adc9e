// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/chart"
)

type entry struct {
	name, text string
	kind       byte
}

// pack makes a .tgz of entries, regular files unless they say otherwise.
func pack(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.text)), Typeflag: tar.TypeReg}
		if e.kind != 0 {
			header.Typeflag, header.Linkname, header.Size, e.text = e.kind, e.text, 0, ""
		}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const about = "name: web\nversion: 1.0.0\n"

func TestAPackedChartIsReadAsItsFolder(t *testing.T) {
	sub := pack(t, entry{name: "db/Chart.yaml", text: "name: db\nversion: 2.0.0\n"}, entry{name: "db/values.yaml", text: "size: 1Gi\n"})
	packed, err := chart.FromArchive(bytes.NewReader(pack(t,
		entry{name: "web/Chart.yaml", text: about},
		entry{name: "web/values.yaml", text: "replicas: 1\n"},
		entry{name: "web/templates/deployment.yaml", text: "not: [read"},
		entry{name: "web/values.schema.json", text: "/etc/passwd", kind: tar.TypeSymlink},
		entry{name: "web/charts/db-2.0.0.tgz", text: string(sub)},
		entry{name: "web/charts/cache/Chart.yaml", text: "name: cache\nversion: 3.0.0\n"},
	)))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := chart.FromFiles(map[string][]byte{
		"Chart.yaml": []byte(about), "values.yaml": []byte("replicas: 1\n"),
		"charts/db-2.0.0.tgz": sub, "charts/cache/Chart.yaml": []byte("name: cache\nversion: 3.0.0\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(packed, folder) {
		t.Errorf("packed %+v\nfolder %+v", packed, folder)
	}
	want := map[string]any{"replicas": "1", "db": "map[size:1Gi]", "cache": "map[]"}
	got := map[string]any{}
	for key, value := range packed.Merge(nil) {
		got[key] = strings.ReplaceAll(fmt.Sprint(value), "global:map[] ", "")
	}
	got["cache"] = strings.ReplaceAll(got["cache"].(string), "global:map[]", "")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("values %v, want %v", got, want)
	}
}

func TestWhatIsNoChartIsRefused(t *testing.T) {
	nested := pack(t, entry{name: "web/Chart.yaml", text: about})
	for range 6 {
		nested = pack(t, entry{name: "web/Chart.yaml", text: about}, entry{name: "web/charts/web.tgz", text: string(nested)})
	}
	zeros := strings.Repeat("\x00", 5<<20)
	var bomb []entry
	for i := range 21 {
		bomb = append(bomb, entry{name: fmt.Sprintf("web/%d", i), text: zeros})
	}
	for what, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"text":                     {[]byte("apiVersion: v2\nname: web\n"), "is no .tgz: gzip: invalid header"},
		"nothing":                  {nil, "is no .tgz: EOF"},
		"cut off":                  {nested[:len(nested)/2], "is no .tgz: unexpected EOF"},
		"no chart":                 {pack(t, entry{name: "web/values.yaml"}), "has no Chart.yaml, and so is no chart"},
		"no folder":                {pack(t, entry{name: "Chart.yaml", text: about}), "has no Chart.yaml, and so is no chart"},
		"a path out":               {pack(t, entry{name: "web/../../Chart.yaml", text: about}), "holds \"web/../../Chart.yaml\", which leads out of the chart"},
		"a path out, on Windows":   {pack(t, entry{name: "..\\Chart.yaml", text: about}), "holds \"../Chart.yaml\", which leads out of the chart"},
		"an absolute path":         {pack(t, entry{name: "/web/Chart.yaml", text: about}), "holds \"/web/Chart.yaml\", which leads out of the chart"},
		"a large file":             {pack(t, entry{name: "web/values.yaml", text: zeros + " "}), "web/values.yaml: is larger than 5 MiB"},
		"a bomb":                   {pack(t, bomb...), "unpacks to more than 100 MiB"},
		"archives within archives": {nested, "charts/web.tgz: charts/web.tgz: charts/web.tgz: charts/web.tgz: charts/web.tgz: holds archives within archives, more than 5 deep"},
		"many files":               {pack(t, make([]entry, 20_001)...), "holds more than 20000 files"},
		"no name":                  {pack(t, entry{name: "web/Chart.yaml", text: "version: 1.0.0\n"}), "Chart.yaml: has no name or no version"},
		"values that are a list":   {pack(t, entry{name: "web/Chart.yaml", text: about}, entry{name: "web/values.yaml", text: "[1]\n"}), "values.yaml: is not a map"},
		"a schema that is elsewhere": {
			pack(t, entry{name: "web/Chart.yaml", text: about}, entry{name: "web/values.schema.json", text: `{"$ref": "https://example.com/a.json"}`}),
			"values.schema.json: failing loading \"https://example.com/a.json\": refers to https://example.com/a.json, which is not looked up",
		},
		"a schema that reads files": {
			pack(t, entry{name: "web/Chart.yaml", text: about}, entry{name: "web/values.schema.json", text: `{"$ref": "file:///etc/passwd"}`}),
			"values.schema.json: failing loading \"file:///etc/passwd\": refers to file:///etc/passwd, which is not looked up",
		},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := chart.FromArchive(bytes.NewReader(c.archive))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
