// This file only marks the module root. Each family of tools has a module file of its own beside it
// (kubernetes.mod, flux.mod, …), used with `go build -modfile=<family>.mod`.
module github.com/sluice-gateway/sluice/test/tools

go 1.26
