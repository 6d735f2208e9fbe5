// Yamltojson answers YAML texts (JSON strings on stdin) as the API server's tools read them, one line each:
// {"json": …} or {"error": …}. The stored answers are made with
// python -m conformance.generate_yaml --count 1500 --seed 1 | go run ./cmd/yamltojson
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"sigs.k8s.io/yaml"
)

type answer struct {
	YAML  string          `json:"yaml"`
	JSON  json.RawMessage `json:"json,omitempty"`
	Error string          `json:"error,omitempty"`
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	lines := json.NewEncoder(out)
	for {
		var text string
		if in.Decode(&text) != nil {
			return
		}
		read, err := yaml.YAMLToJSON([]byte(text))
		given := answer{YAML: text, JSON: read}
		if err != nil {
			given = answer{YAML: text, Error: err.Error()}
		}
		if err := lines.Encode(given); err != nil {
			panic(err)
		}
	}
}
