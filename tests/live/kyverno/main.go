// Prints the definition of Kyverno's ClusterPolicy, as Kyverno's own command has it in it.
package main

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/kyverno/kyverno/cmd/cli/kubectl-kyverno/data"
)

func main() {
	files, err := data.Crds()
	if err == nil {
		var text []byte
		text, err = fs.ReadFile(files, "kyverno.io_clusterpolicies.yaml")
		os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
