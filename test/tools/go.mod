// This file only marks the module root. Each family of tools has a module file of its own beside it (kubernetes.mod,
// flux.mod, …), which `go run ./test/cmd/toolchain` builds with -modfile: no two families share one choice of versions, and
// none of them meets Sluice's own. To move a family to another version, edit its requirement and run, in this folder,
// `go mod tidy -e -modfile=<family>.mod` (-e, since a dependency of Flux's tests is not served).
module github.com/sluice-gateway/sluice/test/tools

go 1.26.0
