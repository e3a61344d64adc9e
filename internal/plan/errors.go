// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// ErrOtherController says that the gateway's class belongs to another operator, so that this one must leave it alone.
var ErrOtherController = errors.New("the class is served by another controller")

// Fault is one thing wrong with what people wrote.
type Fault struct {
	// Reason is one of v1alpha1's reasons of Accepted.
	Reason string
	// Field is the dotted path of the field at fault, such as spec.chart.tag; for a fault of the class it begins with
	// the class, as in APIGatewayClass/wso2 spec.valueMappings[2].paths[0].
	Field string
	// Message says what is wrong and what would be right.
	Message string
	// InConfig is the same for those who point at the ConfigMap of configRef and its key themselves, and ConfigLine the line of
	// that key's text, from 1, if it is known. Both are empty where the fault is not within that text.
	InConfig   string
	ConfigLine int
}

// String is "field: message".
func (f Fault) String() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// Error is why a gateway has no plan: every fault found, in a stable order, the first giving the reason.
type Error struct {
	Faults []Fault
	// ClassName of the class that the gateway was judged by; empty when there was none.
	ClassName string
}

// Error joins all faults.
func (e *Error) Error() string {
	parts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		parts[i] = f.String()
	}
	return strings.Join(parts, "; ")
}

// Reason of the first fault.
func (e *Error) Reason() string {
	return e.Faults[0].Reason
}

// faults collects what is wrong, in the order in which the plan looks at it.
type faults []Fault

func (f *faults) add(reason, field, format string, args ...any) {
	*f = append(*f, Fault{Reason: reason, Field: field, Message: fmt.Sprintf(format, args...)})
}

// about says whether something is wrong with just that field.
func (f *faults) about(field string) bool {
	return slices.ContainsFunc(*f, func(fault Fault) bool { return fault.Field == field })
}

// invalid adds a value that no class could make valid.
func (f *faults) invalid(field, format string, args ...any) {
	f.add(v1alpha1.ReasonInvalidSpec, field, format, args...)
}
