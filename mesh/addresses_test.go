package mesh

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestParseAddresses(t *testing.T) {
	got, err := ParseAddresses("weir-0.weir:9000, 10.0.0.1:80,[::1]:65535")
	if want := []string{"weir-0.weir:9000", "10.0.0.1:80", "[::1]:65535"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"", "host", "host:", "host:http", "host:70000", "a:1,,b:2", "::1:9000"} {
		if got, err := ParseAddresses(bad); err == nil {
			t.Errorf("%q was read as %q", bad, got)
		}
	}
}

func TestLoadHosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# the cluster\n\n a:1 # first\nb:2")
	if got, err := LoadHosts(path); err != nil || !slices.Equal(got, []string{"a:1", "b:2"}) {
		t.Errorf("got %q, %v", got, err)
	}
	write("a:1\nb:\n")
	_, err := LoadHosts(path)
	contains(t, "bad line", err, path+":2", `"" is not a number`)
	write("# nobody\n")
	_, err = LoadHosts(path)
	contains(t, "empty", err, path, "names no host")
	_, err = LoadHosts(path + ".gone")
	contains(t, "no file", err, "load hosts", path)
}

func TestResolveAddresses(t *testing.T) {
	got, process, err := ResolveAddresses(t.Context(), "127.0.0.1:9000")
	if err != nil || !slices.Equal(got, []string{"127.0.0.1:9000"}) || process != 0 {
		t.Errorf("got %q, %d, %v", got, process, err)
	}
	got, process, err = ResolveAddresses(t.Context(), "192.0.2.1:9000")
	if err != nil || !slices.Equal(got, []string{"192.0.2.1:9000"}) || process != -1 {
		t.Errorf("got %q, %d, %v", got, process, err)
	}
	_, _, err = ResolveAddresses(t.Context(), "nowhere.invalid:9000")
	contains(t, "unknown name", err, "resolve addresses", "nowhere.invalid")
	_, _, err = ResolveAddresses(t.Context(), "localhost")
	contains(t, "no port", err, "missing port")
}
