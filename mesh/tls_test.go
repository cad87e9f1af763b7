package mesh

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// authority issues certificates for processes at 127.0.0.1.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{key, cert}
}

// config is the configuration of a process with a certificate of its own, which
// believes a and asks others for a certificate as well.
func (a *authority) config(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "process"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		RootCAs:      pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
}

func TestTLS(t *testing.T) {
	ours := newAuthority(t)
	configs := loopback(t, 3, 2)
	for i := range configs {
		configs[i].TLS = ours.config(t)
	}
	meshes, workers := startCluster(t, configs)
	rounds(t, workers, 50)
	closeAll(t, meshes)
}

// With client certificates, no secret is needed anywhere.
func TestTLSIsProof(t *testing.T) {
	cfg := Config{Processes: 2, Addresses: []string{"10.0.0.1:9000", "10.0.0.2:9000"}, TLS: newAuthority(t).config(t)}
	if _, err := cfg.withDefaults(); err != nil {
		t.Error(err)
	}
	cfg.TLS.ClientAuth = tls.RequestClientCert
	_, err := cfg.withDefaults()
	contains(t, "certificates not required", err, "secret is required")
	cfg.TLS.ClientAuth, cfg.TLS.InsecureSkipVerify = tls.RequireAndVerifyClientCert, true
	_, err = cfg.withDefaults()
	contains(t, "certificates not verified", err, "secret is required")
}

func TestTLSRefusesOtherAuthorities(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	for _, c := range []struct {
		name   string
		change func(cfg *Config) // of process 1
		want   [2]string         // what the log of process 0 says, and the error of process 1
	}{
		{"server is unknown", func(cfg *Config) { cfg.TLS = theirs.config(t) }, [2]string{"tls: bad certificate", "unknown authority"}},
		{"client is unknown", func(cfg *Config) {
			cfg.TLS.Certificates = theirs.config(t).Certificates
		}, [2]string{"unknown authority", "unknown certificate authority"}},
		{"client without certificate", func(cfg *Config) { cfg.TLS.Certificates = nil }, [2]string{"didn't provide a certificate", "certificate required"}},
		{"no TLS", func(cfg *Config) { cfg.TLS = nil }, [2]string{"does not look like a TLS handshake", "read its hello"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			configs := loopback(t, 2, 1)
			var log lockedBuffer
			for i := range configs {
				configs[i].Wait = time.Second
				configs[i].TLS = ours.config(t)
			}
			configs[0].Logger = logger(&log)
			c.change(&configs[1])
			_, errs := startAll(configs)
			contains(t, "process 0", errs[0], "process 1 ("+configs[0].Addresses[1])
			if text := log.String(); !strings.Contains(text, c.want[0]) {
				t.Errorf("the log does not say %q:\n%s", c.want[0], text)
			}
			contains(t, "process 1", errs[1], "process 0 ("+configs[0].Addresses[0]+")", c.want[1])
		})
	}
}
