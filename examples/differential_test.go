package examples_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func checkRisky(t *testing.T, lines []string, _, _ int) {
	const customers, transactions, months, old = 60, 6, 24, 6
	type payment struct {
		a, b  uint32
		month int
	}
	type suspicion struct {
		customer uint32
		month    int
		wrong    bool
	}
	random := rand.New(rand.NewPCG(1, 1))
	var payments []payment
	var suspicions []suspicion
	for month := range months {
		for range transactions {
			payments = append(payments, payment{random.Uint32N(customers), random.Uint32N(customers), month})
		}
		suspicions = append(suspicions, suspicion{random.Uint32N(customers), month, random.IntN(2) == 0})
	}
	var want []string
	before := map[uint32]bool{}
	for month := range months + old {
		risky := map[uint32]bool{}
		for _, s := range suspicions {
			if s.month <= month && !(s.wrong && s.month+old <= month) {
				risky[s.customer] = true
			}
		}
		for n := -1; n != len(risky); {
			n = len(risky)
			for _, p := range payments {
				if p.month <= month && month < p.month+old && (risky[p.a] || risky[p.b]) {
					risky[p.a], risky[p.b] = true, true
				}
			}
		}
		more, fewer := 0, 0
		for c := range uint32(customers) {
			switch {
			case risky[c] && !before[c]:
				more++
			case before[c] && !risky[c]:
				fewer++
			}
		}
		if more+fewer > 0 {
			want = append(want, fmt.Sprintf("month %d: %d risky customers, %d more and %d no more", month, len(risky), more, fewer))
		}
		before = risky
	}
	if !slices.Equal(lines, want) {
		t.Errorf("expected %q", want)
	}
}

func checkQ17(t *testing.T, lines []string, _, _ int) {
	const parts, orders, refreshes = 20, 2000, 40
	type order struct {
		part, quantity uint32
		price          int64
	}
	random := rand.New(rand.NewPCG(1, 17))
	wanted := map[uint32]bool{}
	for key := range uint32(parts) {
		m, n, box := 1+random.IntN(2), 1+random.IntN(3), random.IntN(2) == 0
		wanted[key] = m == 2 && n == 3 && box
	}
	var history []order
	add := func() {
		part := random.Uint32N(parts)
		quantity := uint32(1 + random.IntN(50))
		history = append(history, order{part, quantity, int64(quantity) * (90000 + int64(part/10%20001+100*(part%1000)))})
	}
	for range orders {
		add()
	}
	var want []string
	last := int64(-1)
	for refresh := range refreshes + 1 {
		if refresh > 0 {
			for range orders / 1000 {
				add()
			}
			history = history[orders/1000:]
		}
		lost := int64(0)
		for part, ok := range wanted {
			total, count := 0.0, 0.0
			for _, o := range history {
				if o.part == part {
					total += float64(o.quantity)
					count++
				}
			}
			for _, o := range history {
				if ok && o.part == part && float64(o.quantity)*5*count < total {
					lost += o.price
				}
			}
		}
		if lost != last {
			want = append(want, fmt.Sprintf("refresh %d: avg_yearly %.2f", refresh, float64(lost)/100/7))
		}
		last = lost
	}
	if !slices.Equal(lines, want) || len(want) < 2 {
		t.Errorf("expected %q", want)
	}
}
