package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// choice is a flag that takes one of a few words.
type choice[T comparable] struct {
	words  []string
	values []T
	value  T
}

// word is a word that a [choice] takes, and what it means.
type word[T comparable] struct {
	name  string
	value T
}

// choose makes a flag of the given words; the first is the default.
func choose[T comparable](words ...word[T]) *choice[T] {
	c := &choice[T]{value: words[0].value}
	for _, w := range words {
		c.words, c.values = append(c.words, w.name), append(c.values, w.value)
	}
	return c
}

func (c *choice[T]) Set(s string) error {
	for i, w := range c.words {
		if s == w {
			c.value = c.values[i]
			return nil
		}
	}
	return fmt.Errorf("expected one of: %s", strings.Join(c.words, ", "))
}

func (c *choice[T]) String() string {
	for i, v := range c.values {
		if v == c.value {
			return c.words[i]
		}
	}
	return ""
}

func (c *choice[T]) Type() string { return "word" }

// addChoice defines a flag that takes one of a few words, and lets shells
// complete them.
func addChoice[T comparable](cmd *cobra.Command, c *choice[T], name, usage string) {
	cmd.Flags().Var(c, name, usage+": "+strings.Join(c.words, ", "))
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.words, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}
