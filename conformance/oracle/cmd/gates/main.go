// Gates prints what every feature gate was in each minor version from 1.18 on, JSON, one gate a line, from the sources
// of Kubernetes and of the libraries that add gates of their own; nothing of them is compiled:
// go run ./cmd/gates > ../../src/topospread/config/feature_gates.json
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"log"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"topospread.dev/oracle/releases"
)

// packages are where gates are added to those that kube-scheduler and the API server know, each since a minor version:
// Kubernetes' own, those of libraries that it imports for that or asks for their gates (cmd/kube-scheduler/app/server.go).
var packages = []struct {
	module, folder string
	since          int
}{
	{"k8s.io/kubernetes", "pkg/features", releases.Oldest},
	{"k8s.io/apiserver", "pkg/features", releases.Oldest},
	{"k8s.io/apiextensions-apiserver", "pkg/features", 28},
	{"k8s.io/client-go", "features", 30},
	{"k8s.io/component-base", "logs", releases.Oldest},
	{"k8s.io/component-base", "logs/api/v1", releases.Oldest},
	{"k8s.io/component-base", "metrics/features", 26},
	{"k8s.io/component-base", "zpages/features", 32},
}

// gate is what a version says of one.
type gate struct {
	stage             string
	isDefault, locked bool
}

// source is what the packages of one version say.
type source struct {
	minor int
	names map[string]string // identifier → name
	gates map[string]gate
	needs map[string][]string
}

func read(minor int) *source {
	s := &source{minor, map[string]string{}, map[string]gate{}, map[string][]string{}}
	var files []*ast.File
	for _, p := range packages {
		if minor < p.since {
			continue
		}
		for _, path := range releases.Files(filepath.Join(releases.Folder(p.module, minor), p.folder)) {
			file, _ := releases.Parse(path)
			files = append(files, file)
		}
	}
	for _, visit := range []func(ast.Node) bool{s.constant, s.table} {
		for _, file := range files {
			ast.Inspect(file, visit)
		}
	}
	return s
}

// constant notes “Name featuregate.Feature = "Name"“.
func (s *source) constant(node ast.Node) bool {
	spec, ok := node.(*ast.ValueSpec)
	if ok && len(spec.Names) == 1 && len(spec.Values) == 1 {
		if value, ok := spec.Values[0].(*ast.BasicLit); ok && value.Kind == token.STRING {
			s.names[spec.Names[0].Name], _ = strconv.Unquote(value.Value)
		}
	}
	return true
}

// table notes the entries of maps from features to what they are, or to what they need.
func (s *source) table(node ast.Node) bool {
	literal, ok := node.(*ast.CompositeLit)
	if !ok {
		return true
	}
	kind, ok := literal.Type.(*ast.MapType)
	if !ok || last(kind.Key) != "Feature" {
		return true
	}
	for _, element := range literal.Elts {
		entry := element.(*ast.KeyValueExpr)
		name := s.name(entry.Key)
		value, ok := entry.Value.(*ast.CompositeLit)
		if !ok {
			continue
		}
		if list, ok := kind.Value.(*ast.ArrayType); ok && last(list.Elt) == "Feature" {
			for _, needed := range value.Elts {
				s.needs[name] = append(s.needs[name], s.name(needed))
			}
			continue
		}
		switch last(kind.Value) {
		case "FeatureSpec":
			s.gates[name] = spec(value)
		case "VersionedSpecs":
			for _, each := range value.Elts {
				versioned := each.(*ast.CompositeLit)
				if since(versioned) <= s.minor {
					s.gates[name] = spec(versioned)
				}
			}
		}
	}
	return false
}

func (s *source) name(key ast.Expr) string {
	if found, ok := s.names[last(key)]; ok {
		return found
	}
	return last(key) // a constant of a library that is not read: they are named as they are called
}

// last is the last word of a name, with or without its package.
func last(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func since(literal *ast.CompositeLit) int {
	for _, element := range literal.Elts {
		field := element.(*ast.KeyValueExpr)
		if last(field.Key) == "Version" {
			text, _ := strconv.Unquote(field.Value.(*ast.CallExpr).Args[0].(*ast.BasicLit).Value)
			minor, err := strconv.Atoi(strings.TrimPrefix(text, "1."))
			if err != nil {
				log.Fatal(err)
			}
			return minor
		}
	}
	return 0
}

func spec(literal *ast.CompositeLit) gate {
	var found gate
	for _, element := range literal.Elts {
		field := element.(*ast.KeyValueExpr)
		value := last(field.Value)
		switch last(field.Key) {
		case "Default":
			found.isDefault = value == "true"
		case "LockToDefault":
			found.locked = value == "true"
		case "PreRelease":
			found.stage = strings.ToUpper(value)
		}
	}
	return found
}

// history is what a gate was: “1.24 ALPHA off, 1.27 BETA on, 1.30 GA on locked, last 1.31”.
func history(name string, sources []*source) string {
	var parts []string
	var before gate
	final := 0
	for _, s := range sources {
		now, known := s.gates[name]
		if !known {
			continue
		}
		if final = s.minor; len(parts) == 0 || now != before {
			text := fmt.Sprintf("1.%d %s %s", s.minor, now.stage, map[bool]string{true: "on", false: "off"}[now.isDefault])
			if now.locked {
				text += " locked"
			}
			parts, before = append(parts, text), now
		}
	}
	if final < sources[len(sources)-1].minor {
		parts = append(parts, fmt.Sprintf("last 1.%d", final))
	}
	return strings.Join(parts, ", ")
}

func main() {
	var sources []*source
	var names []string
	for minor := releases.Oldest; minor <= releases.Newest; minor++ {
		s := read(minor)
		sources = append(sources, s)
		for name := range s.gates {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var lines []string
	for _, name := range slices.Compact(names) {
		row := struct {
			History string   `json:"history"`
			Needs   []string `json:"needs,omitempty"`
		}{History: history(name, sources)}
		for _, s := range sources {
			if _, known := s.gates[name]; known {
				row.Needs = s.needs[name]
			}
		}
		line, _ := json.Marshal(row)
		lines = append(lines, fmt.Sprintf("%q: %s", name, line))
	}
	fmt.Printf("{\n%s\n}\n", strings.Join(lines, ",\n"))
}
