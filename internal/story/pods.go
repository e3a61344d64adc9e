// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodSummary tells how many pods there are, and which are not ready and why.
type PodSummary struct {
	Total    int   `json:"total"`
	Ready    int   `json:"ready"`
	NotReady []Pod `json:"notReady,omitempty"`
}

// Pod that is not ready.
type Pod struct {
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	Phase     string      `json:"phase,omitempty"`
	Created   metav1.Time `json:"created"`
	// Problems are why it is not ready; never empty.
	Problems []Problem `json:"problems"`
}

// Problem of a pod or of one of its containers.
type Problem struct {
	// Container is empty where the pod as a whole is meant.
	Container string `json:"container,omitempty"`
	// Reason is Kubernetes' own: ImagePullBackOff, CrashLoopBackOff, Unschedulable, …
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// LastTermination tells how the container ended before, where it did.
	LastTermination string `json:"lastTermination,omitempty"`
	// OOMKilled: it ended since it used more memory than it may.
	OOMKilled bool `json:"oomKilled,omitempty"`
}

func (p Problem) String() string {
	var parts []string
	if p.Container != "" {
		parts = append(parts, "container "+p.Container)
	}
	parts = append(parts, p.Reason)
	if p.Message != "" {
		parts = append(parts, oneLine(p.Message))
	}
	text := strings.Join(parts, ": ")
	if p.LastTermination != "" {
		text += " (" + p.LastTermination + ")"
	}
	return text
}

// reasonNotReady stands for a container that runs, or a pod that nobody says more of.
const reasonNotReady = "NotReady"

// podsOf counts the pods and tells what is wrong with those that are not ready. One that has done its work, or is about to
// go in time, is neither.
func podsOf(pods []corev1.Pod, now metav1.Time) PodSummary {
	var s PodSummary
	for i := range pods {
		p := &pods[i]
		switch {
		case p.Status.Phase == corev1.PodSucceeded || goes(p, now):
			continue
		case isReady(p):
			s.Ready++
		default:
			s.NotReady = append(s.NotReady, Pod{Namespace: p.Namespace, Name: p.Name, Phase: string(p.Status.Phase),
				Created: p.CreationTimestamp, Problems: problems(p)})
		}
		s.Total++
	}
	return s
}

// slack is how long after its grace period a pod that is being deleted counts as stuck. (deletionTimestamp holds the end of
// the grace period.)
const slack = time.Minute

func goes(p *corev1.Pod, now metav1.Time) bool {
	return p.DeletionTimestamp != nil && now.Time.Before(p.DeletionTimestamp.Add(slack))
}

func isReady(p *corev1.Pod) bool {
	c := podCondition(p, corev1.PodReady)
	return p.DeletionTimestamp == nil && c != nil && c.Status == corev1.ConditionTrue
}

func podCondition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

func problems(p *corev1.Pod) []Problem {
	if p.DeletionTimestamp != nil {
		return []Problem{{Reason: "Terminating", Message: "it should have ended by " + p.DeletionTimestamp.UTC().Format(time.RFC3339)}}
	}
	if c := podCondition(p, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return []Problem{{Reason: c.Reason, Message: c.Message}}
	}
	if p.Status.Phase == corev1.PodFailed && p.Status.Reason != "" {
		return []Problem{{Reason: p.Status.Reason, Message: p.Status.Message}}
	}
	var found []Problem
	for _, c := range p.Status.InitContainerStatuses {
		if problem := ofContainer(c, true); problem != nil {
			found = append(found, *problem)
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		if problem := ofContainer(c, false); problem != nil {
			found = append(found, *problem)
		}
	}
	if found = telling(found); len(found) > 0 {
		return found
	}
	return []Problem{unexplained(p)}
}

// ofContainer is nil for a container with which nothing is wrong.
func ofContainer(c corev1.ContainerStatus, init bool) *Problem {
	problem := Problem{Container: c.Name}
	switch s := c.State; {
	case s.Waiting != nil:
		problem.Reason, problem.Message = s.Waiting.Reason, s.Waiting.Message
	case s.Terminated != nil && (s.Terminated.ExitCode != 0 || !init):
		problem.Reason, problem.Message = s.Terminated.Reason, ended(s.Terminated)
		problem.OOMKilled = s.Terminated.Reason == reasonOOMKilled
	case s.Running != nil && !c.Ready && !init:
		problem.Reason, problem.Message = reasonNotReady, "it runs, and its readiness probe does not pass"
	default:
		return nil
	}
	if last := c.LastTerminationState.Terminated; last != nil {
		problem.LastTermination = "before that it " + ended(last)
		problem.OOMKilled = problem.OOMKilled || last.Reason == reasonOOMKilled
	}
	return &problem
}

const reasonOOMKilled = "OOMKilled"

func ended(t *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("ended with exit code %d", t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" {
		text += ", " + t.Reason
	}
	if t.Message != "" {
		text += ": " + oneLine(t.Message)
	}
	return text
}

// telling leaves out containers that only wait for others, if there are others.
func telling(all []Problem) []Problem {
	var found []Problem
	for _, p := range all {
		if p.Reason != "PodInitializing" && p.Reason != "ContainerCreating" {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return all
	}
	return found
}

// unexplained is what is left to say of a pod whose containers say nothing.
func unexplained(p *corev1.Pod) Problem {
	if c := podCondition(p, corev1.PodReady); c != nil && c.Message != "" {
		return Problem{Reason: reasonNotReady, Message: c.Message}
	}
	return Problem{Reason: reasonNotReady, Message: fmt.Sprintf("it is %s, and its containers have not started", p.Status.Phase)}
}

// podCauses tells problems that several pods share once.
func podCauses(pods []Pod) []string {
	type key struct{ container, reason string }
	var order []key
	first, count := map[key]string{}, map[key]int{}
	for _, pod := range pods {
		problem := pod.Problems[0]
		k := key{problem.Container, problem.Reason}
		if count[k]++; count[k] == 1 {
			order = append(order, k)
			first[k] = pod.Name + "\x00" + problem.String()
		}
	}
	var causes []string
	for _, k := range order {
		name, text, _ := strings.Cut(first[k], "\x00")
		who := "pod " + name
		if count[k] > 1 {
			who = fmt.Sprintf("%d pods, as %s", count[k], name)
		}
		causes = append(causes, who+": "+text)
	}
	return causes
}
