// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// addresses have an address in each form, and what is nearly one; which is which, Go says.
var addresses = []string{
	"0.0.0.0", "10.0.0.1", "255.255.255.255", "256.1.1.1", "999.1.1.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1..2.3", "1.2.3.", ".1.2.3.4",
	"::", "::1", "1::", "fd00::1", "FD00::AbCd", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3::6:7:8",
	"1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2:3:4:5:6:7:8", "1::2::3", ":::", ":", ":1", "1:", "1:2:3:4:5:6:7:", "12345::",
	"::ffff:10.0.0.1", "::10.0.0.1", "1:2:3:4:5:6:10.0.0.1", "1:2:3:4:5:6:7:10.0.0.1", "1:2:3:4:5::10.0.0.1", "::ffff:10.0.0.256",
	"::10.0.0.1:1", "10.0.0.1::",
}

func TestWhatIsNoAddressIsRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"STRICT_DNS", "LOGICAL_DNS", "STATIC"} {
		var upstreams, want []string
		for i, address := range addresses {
			host := address + ":80"
			if strings.Contains(address, ":") {
				host = "[" + address + "]:80"
			}
			upstreams = append(upstreams, fmt.Sprintf("{name: u%d, type: %s, hosts: [%q]}", i, kind, host))
			if _, err := netip.ParseAddr(address); err != nil {
				want = append(want, fmt.Sprintf("upstreams[%d] (u%d): %s looks like an IP address and is none; give an IP address or a name", i, i, host))
			}
		}
		require.NotEmpty(t, want)
		assert.Equal(t, want, faults(refusal(t, "upstreams: ["+strings.Join(upstreams, ", ")+"]")), kind)
	}
}

// ranges have what Kubernetes takes as a loadBalancerSourceRange, and what it does not.
var ranges = map[string]bool{
	"10.0.0.0/8": true, "0.0.0.0/0": true, "10.0.0.1/32": true, "fd00::/8": true, "::/0": true, "::1/128": true,
	"10.0.0.0/33": false, "fd00::/129": false, "999.0.0.0/8": false, "10.0.0/8": false, ":::/8": false, "10.0.0.0/999": false,
}

func TestWhatIsNoRangeOfAddressesIsRefused(t *testing.T) {
	t.Parallel()
	for text, isRange := range ranges {
		_, err := netip.ParsePrefix(text)
		require.Equal(t, isRange, err == nil, text)
		values := fmt.Sprintf("service: {type: LoadBalancer, loadBalancerSourceRanges: [%q]}", text)
		if isRange {
			assert.Equal(t, []string{text}, renderObjects(t, values).Service.Spec.LoadBalancerSourceRanges)
			continue
		}
		assert.Equal(t, []string{
			"service.loadBalancerSourceRanges: " + text + " is no range of addresses; write an address and the length of its prefix, as in 10.0.0.0/8",
		}, faults(refusal(t, values)))
	}
}
