// Plugins prints what kube-scheduler's sources say of its plugins in every minor version; nothing of them is compiled.
// Those that each version of the configuration enables on its own, JSON: version → minor version of Kubernetes from
// which on → extension point → plugins in order, a weight after a colon, and the gate without which (with "!": with
// which) one is not there after " if "; at which extension points each has a method: plugin → extension point → from-to,
// without an end where it is still there; and what reading and starting them looks at (checks.go):
// go run ./cmd/plugins defaults > ../../src/topospread/config/default_plugins.json
// go run ./cmd/plugins points > ../../src/topospread/config/extension_points.json
// go run ./cmd/plugins checks > ../../src/topospread/config/plugin_checks.json
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"topospread.dev/oracle/releases"
)

type source struct {
	root    string
	imports map[string]string
}

// value is the text of a constant of a package of Kubernetes.
func (s *source) value(path, name string) string {
	files, _ := filepath.Glob(filepath.Join(s.root, strings.TrimPrefix(path, "k8s.io/kubernetes/"), "*.go"))
	found := ""
	for _, each := range files {
		file, imports := releases.Parse(each)
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || found != "" || len(spec.Values) != len(spec.Names) {
				return true
			}
			for i, declared := range spec.Names {
				if declared.Name == name {
					found = (&source{s.root, imports}).text(spec.Values[i], path)
				}
			}
			return true
		})
	}
	if found == "" {
		log.Fatalf("%s.%s is nowhere", path, name)
	}
	return found
}

// text is what an expression of a package stands for.
func (s *source) text(expression ast.Expr, path string) string {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
		return e.Value
	case *ast.CallExpr: // pointer.Int32(1), ptr.To[int32](1)
		return s.text(e.Args[0], path)
	case *ast.Ident:
		return s.value(path, e.Name)
	case *ast.SelectorExpr:
		return s.value(s.imports[e.X.(*ast.Ident).Name], e.Sel.Name)
	}
	log.Fatalf("%T", expression)
	return ""
}

// set is a field of Plugins, with what it enables.
type set struct {
	point   string
	enabled []string
}

// plugins gives the sets that the file's function returns, in their order.
func (s *source) plugins(file *ast.File) []set {
	var sets []set
	ast.Inspect(file, func(node ast.Node) bool {
		function, ok := node.(*ast.FuncDecl)
		if ok && function.Name.Name != "getDefaultPlugins" && function.Name.Name != "getDefaultConfig" {
			return false
		}
		literal, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if kind, ok := literal.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "Plugins" {
			return true
		}
		for _, element := range literal.Elts {
			point := element.(*ast.KeyValueExpr)
			sets = append(sets, set{inJSON(point.Key.(*ast.Ident).Name), s.enabled(point.Value)})
		}
		return false
	})
	return sets
}

// inJSON is what a field of Plugins is called there.
func inJSON(name string) string {
	return strings.ToLower(name[:1]) + name[1:]
}

// enabled is the list of a set.
func (s *source) enabled(set ast.Expr) []string {
	if address, ok := set.(*ast.UnaryExpr); ok {
		set = address.X
	}
	var listed []string
	for _, element := range set.(*ast.CompositeLit).Elts {
		for _, plugin := range element.(*ast.KeyValueExpr).Value.(*ast.CompositeLit).Elts {
			listed = append(listed, s.plugin(plugin.(*ast.CompositeLit)).String())
		}
	}
	return listed
}

// plugin is one of a list.
type plugin struct{ name, weight string }

func (p plugin) String() string {
	if p.weight == "" {
		return p.name
	}
	return p.name + ":" + p.weight
}

func (s *source) plugin(literal *ast.CompositeLit) plugin {
	text := map[string]string{}
	for _, field := range literal.Elts {
		pair := field.(*ast.KeyValueExpr)
		text[pair.Key.(*ast.Ident).Name] = s.text(pair.Value, "")
	}
	return plugin{text["Name"], text["Weight"]}
}

// read gives the default plugins of a version of the configuration, those of feature gates at their places.
func read(name string, minor int) json.RawMessage {
	folder := releases.Folder("k8s.io/kubernetes", minor)
	path := filepath.Join(folder, "pkg/scheduler/apis/config", name, "default_plugins.go")
	functions := []string{"getDefaultPlugins"}
	if minor <= 21 {
		path = filepath.Join(folder, "pkg/scheduler/algorithmprovider/registry.go")
		functions = []string{"getDefaultConfig", "applyFeatureGates"}
	}
	file, imports := releases.Parse(path)
	s := &source{folder, imports}
	reader := gated{s, file, s.plugins(file)}
	for _, function := range functions {
		reader.call(function, "")
	}
	var lines []string
	for _, each := range reader.sets {
		line, _ := json.Marshal(each.enabled)
		lines = append(lines, fmt.Sprintf("%q:%s", each.point, line))
	}
	return json.RawMessage("{" + strings.Join(lines, ",") + "}")
}

// methods are what a plugin has at an extension point.
var methods = map[string]string{
	"PreEnqueue": "preEnqueue", "Less": "queueSort", "PreFilter": "preFilter", "Filter": "filter",
	"PostFilter": "postFilter", "PreScore": "preScore", "Score": "score", "Reserve": "reserve", "Permit": "permit",
	"PreBind": "preBind", "Bind": "bind", "PostBind": "postBind", "GeneratePlacements": "placementGenerate",
	"ScorePlacement": "placementScore", "PodGroupPostFilter": "podGroupPostFilter",
}

// manyNames are types that stand for several plugins: by a field, so that their names are constants of the package.
var manyNames = map[string][]string{"nonCSILimits": {"EBSName", "GCEPDName", "AzureDiskName", "CinderName"}}

// receiver is the type that a method is of.
func receiver(function *ast.FuncDecl) string {
	kind := function.Recv.List[0].Type
	if pointer, ok := kind.(*ast.StarExpr); ok {
		kind = pointer.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	return kind.(*ast.Ident).Name
}

// names are what the plugins of a type are called.
func (s *source) names(kind string, function *ast.FuncDecl, path string) []string {
	var names []string
	for _, constant := range manyNames[kind] {
		names = append(names, s.value(path, constant))
	}
	if names == nil {
		names = []string{s.text(function.Body.List[0].(*ast.ReturnStmt).Results[0], path)}
	}
	return names
}

// points gives the extension points of a minor version's plugins, by name.
func points(minor int) map[string][]string {
	folder := releases.Folder("k8s.io/kubernetes", minor)
	found := map[string][]string{}
	packages, _ := filepath.Glob(filepath.Join(folder, "pkg/scheduler/framework/plugins", "*"))
	for _, path := range packages {
		if slices.Contains([]string{"testing", "examples"}, filepath.Base(path)) {
			continue
		}
		inside := "k8s.io/kubernetes" + strings.TrimPrefix(path, folder)
		names, at := map[string]func() []string{}, map[string][]string{}
		for _, each := range releases.Files(path) {
			file, imports := releases.Parse(each)
			s := &source{folder, imports}
			for _, decl := range file.Decls {
				function, ok := decl.(*ast.FuncDecl)
				if !ok || function.Recv == nil {
					continue
				}
				kind := receiver(function)
				if point, ok := methods[function.Name.Name]; ok {
					at[kind] = append(at[kind], point)
				}
				if function.Name.Name == "Name" {
					names[kind] = func() []string { return s.names(kind, function, inside) }
				}
			}
		}
		for kind, points := range at {
			if called, ok := names[kind]; ok {
				for _, name := range called() {
					found[name] = points
				}
			}
		}
	}
	return found
}

func printPoints() {
	spans := map[string]map[string][2]int{}
	for minor := releases.Oldest; minor <= releases.Newest; minor++ {
		for plugin, at := range points(minor) {
			if spans[plugin] == nil {
				spans[plugin] = map[string][2]int{}
			}
			for _, point := range at {
				span, known := spans[plugin][point]
				if !known {
					span[0] = minor
				} else if span[1] != minor-1 {
					log.Fatalf("%s has %s now and then", plugin, point)
				}
				spans[plugin][point] = [2]int{span[0], minor}
			}
		}
	}
	var lines []string
	for _, plugin := range slices.Sorted(maps.Keys(spans)) {
		shown := map[string]string{}
		for point, span := range spans[plugin] {
			shown[point] = fmt.Sprintf("%d-%d", span[0], span[1])
			if span[1] == releases.Newest {
				shown[point] = fmt.Sprintf("%d-", span[0])
			}
		}
		line, _ := json.Marshal(shown)
		lines = append(lines, fmt.Sprintf("%q: %s", plugin, line))
	}
	fmt.Printf("{\n%s\n}\n", strings.Join(lines, ",\n"))
}

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "points":
		printPoints()
		return
	case len(os.Args) == 2 && os.Args[1] == "checks":
		printChecks()
		return
	}
	fmt.Println(releases.ByConfiguration(func(name string, minor int) any { return read(name, minor) }))
}
