// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken from below the range that Linux gives to outgoing connections (32768 and up), so that no client's socket
// sits on a port between our choosing it and a component's listening on it. Another cluster might; see startComponent.
const firstPort, endPort = 15000, 32768

var ports struct {
	sync.Mutex
	given map[int]bool
}

// freePort returns a loopback port that nobody listens on and that this process has not handed out before.
func freePort() (int, error) {
	ports.Lock()
	defer ports.Unlock()
	if ports.given == nil {
		ports.given = map[int]bool{}
	}
	for range 1000 {
		port := firstPort + rand.IntN(endPort-firstPort)
		if ports.given[port] || !isFree(port) {
			continue
		}
		ports.given[port] = true
		return port, nil
	}
	return 0, fmt.Errorf("found no free port from %d to %d on 127.0.0.1", firstPort, endPort-1)
}

func isFree(port int) bool {
	listener, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

func portFlag(flag string, port int) string { return flag + "=" + strconv.Itoa(port) }

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// FreeAddress returns a loopback host:port for a process of StartProcess to listen on.
func FreeAddress() (string, error) {
	port, err := freePort()
	return address(port), err
}

// freeAddresses returns n free addresses, host:port.
func freeAddresses(n int) ([]string, error) {
	addresses := make([]string, n)
	for i := range addresses {
		var err error
		if addresses[i], err = FreeAddress(); err != nil {
			return nil, err
		}
	}
	return addresses, nil
}
