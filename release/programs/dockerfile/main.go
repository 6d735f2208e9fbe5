// Holds a Dockerfile to BuildKit's own checks, those of `docker build --check`, and prints the image's configuration as
// JSON. It builds nothing and asks no registry: base images are taken to be as empty as scratch.
//
//	dockerfile < Dockerfile
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/solver/pb"
	"github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// unasked answers what a registry would say of a base image: nothing but that it is there.
type unasked struct{}

func (unasked) ResolveImageConfig(
	_ context.Context, ref string, _ sourceresolver.Opt,
) (string, digest.Digest, []byte, error) {
	config, err := json.Marshal(ocispecs.Image{Platform: ocispecs.Platform{Architecture: "amd64", OS: "linux"}})
	return ref, digest.FromBytes(config), config, err
}

func (unasked) ResolveSourceMetadata(
	_ context.Context, op *pb.SourceOp, _ sourceresolver.Opt,
) (*sourceresolver.MetaResponse, error) {
	config, err := json.Marshal(ocispecs.Image{Platform: ocispecs.Platform{Architecture: "amd64", OS: "linux"}})
	image := &sourceresolver.ResolveImageResponse{Digest: digest.FromBytes(config), Config: config}
	return &sourceresolver.MetaResponse{Op: op, Image: image}, err
}

func run() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	warnings := 0
	made, err := dockerfile2llb.Dockerfile2LLB(context.Background(), text, dockerfile2llb.ConvertOpt{
		MetaResolver:   unasked{},
		TargetPlatform: &ocispecs.Platform{Architecture: "amd64", OS: "linux"},
		Warn: func(rule, _, _, message string, _ []parser.Range) {
			warnings++
			fmt.Fprintf(os.Stderr, "%s: %s\n", rule, message)
		},
	})
	if err != nil {
		return err
	}
	if warnings > 0 {
		return fmt.Errorf("%d warnings", warnings)
	}
	return json.NewEncoder(os.Stdout).Encode(made.Image)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
