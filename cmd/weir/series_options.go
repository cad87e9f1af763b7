package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/series"
	"weir/series/names"
	queryformat "weir/series/query/format"
	"weir/series/volume"
)

// retentionFlag is how long points are kept: 30d, or 7d cpu host=a,b for series of a metric (* is any) with such tags.
type retentionFlag struct {
	texts []string
	rules []series.Retention
}

const retentionHelp = "keep points for an `age`: 30d, or '7d cpu host=a,b' for some series, '7d * dc=x' whatever the metric (may be repeated)"

func (r *retentionFlag) String() string { return strings.Join(r.texts, ", ") }
func (r *retentionFlag) Type() string   { return "age" }

func (r *retentionFlag) Set(s string) error {
	words := strings.Fields(s)
	if len(words) == 0 {
		return fmt.Errorf("expected an age such as 30d")
	}
	age, ok := queryformat.ParseDuration(words[0])
	if !ok || age <= 0 {
		return fmt.Errorf("the age %q; expected one such as 12h or 30d", words[0])
	}
	rule := series.Retention{Age: time.Duration(age)}
	for i, word := range words[1:] {
		switch {
		case i > 0:
			m, err := parseWhere(word)
			if err != nil {
				return err
			}
			rule.Where = append(rule.Where, m)
		case strings.ContainsAny(word, "=^~"):
			return fmt.Errorf("the metric %q; expected one, or * for all, before conditions", word)
		case word != "*":
			rule.Where = append(rule.Where, names.Metric(word))
		}
	}
	r.texts, r.rules = append(r.texts, s), append(r.rules, rule)
	return nil
}

// retain takes away what is too old by now. A store that is open does so by itself, but only whole nodes and now and then.
func (r *retentionFlag) retain(ctx context.Context, st *series.Store) error {
	now := time.Now()
	for _, rule := range r.rules {
		if _, err := st.Delete(ctx, rule.Where, math.MinInt64, now.Add(-rule.Age).UnixNano()-1); err != nil {
			return err
		}
	}
	return nil
}

// storeFlags are the options of a store that is written to.
type storeFlags struct {
	options   series.Options
	sync      *choice[series.SyncMode]
	retention retentionFlag
	size      byteSize
	reserve   byteSize
}

func addStoreFlags(cmd *cobra.Command) *storeFlags {
	s := &storeFlags{sync: choose(
		word[series.SyncMode]{"interval", series.SyncInterval}, word[series.SyncMode]{"always", series.SyncAlways}, word[series.SyncMode]{"never", series.SyncNever})}
	f := cmd.Flags()
	addChoice(cmd, s.sync, "sync", "when the log is synced")
	f.BoolVar(&s.options.NoLog, "no-log", false, "do without a log: if it is killed, the points of this call may be lost")
	f.BoolVar(&s.options.KeepLast, "keep-last", false, "of points of one time of a series keep the last; for a new store, which then always does")
	f.Var(&s.retention, "retention", retentionHelp)
	f.Var(&s.size, "retention-size", "keep volumes of at most a `size`: the oldest points make room")
	f.Var(&s.reserve, "reserve", "leave a `size` of the disk free (default 64 MiB)")
	return s
}

// minVolumes is how many volumes a store of a limited size has at least: what makes room is one of them.
const minVolumes = 4

// store is the options that the flags say.
func (s *storeFlags) store() (series.Options, error) {
	o := s.options
	o.Sync, o.Retention, o.Reserve = s.sync.value, s.retention.rules, int64(s.reserve)
	if s.size > 0 {
		if s.size < minVolumes*volume.MinSize {
			return o, usagef("--retention-size: %v; expected at least %v", &s.size, humanize.IBytes(minVolumes*volume.MinSize))
		}
		o.VolumeSize = min(256<<20, int64(s.size)/minVolumes)
		o.Volumes = int(int64(s.size) / o.VolumeSize)
	}
	return o, nil
}
