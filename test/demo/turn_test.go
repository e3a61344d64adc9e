// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// holdTurn is the folder of the demo whose turn this process, started by a test, is to hold until it is interrupted.
const holdTurn = "SLUICE_DEMO_HOLD_TURN"

func TestMain(m *testing.M) {
	if root := os.Getenv(holdTurn); root != "" {
		hold(root)
		return
	}
	os.Exit(m.Run())
}

func hold(root string) {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGTERM)
	release, err := takeTurn(context.Background(), places{root: root}, newReport(os.Stderr, time.Now()))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("holds")
	<-interrupted
	time.Sleep(300 * time.Millisecond) // a demo takes a while to stop its cluster
	release()
}

func TestSecondDemoInterruptsTheFirst(t *testing.T) {
	root := t.TempDir()
	first := exec.Command(os.Args[0])
	first.Env = append(os.Environ(), holdTurn+"="+root)
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer first.Process.Kill()
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "holds\n" {
		t.Fatalf("the first did not take its turn: %s", line)
	}
	release, err := takeTurn(t.Context(), places{root: root}, newReport(os.Stderr, time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := first.Wait(); err != nil {
		t.Errorf("the first ended with %v", err)
	}
}
