// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan is the second stage of the flow: it turns an APIGateway, its class and its ConfigMap into a Plan, validated
// and with every default applied, or says everything that is wrong with them. It is pure: the controller and the generator
// call it with the same input and get the same answer.
package plan

// Make plans a gateway. The error is ErrOtherController, or an *Error with every fault found.
func Make(in Input) (*Plan, error) {
	panic("to be written")
}
