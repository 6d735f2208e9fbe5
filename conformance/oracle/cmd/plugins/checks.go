package main

import (
	"fmt"
	"go/ast"
	"log"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"topospread.dev/oracle/releases"
)

const inScheduler = "k8s.io/kubernetes/pkg/scheduler/"

// declared is what a package declares under a name, a function or the value of a variable; nil where it has none.
func declared(path, name string, minor int) (ast.Node, *source) {
	words := strings.SplitN(path, "/", 3)
	root := releases.Folder(words[0]+"/"+words[1], minor)
	for _, each := range releases.Files(filepath.Join(root, words[2])) {
		file, imports := releases.Parse(each)
		var found ast.Node
		ast.Inspect(file, func(node ast.Node) bool {
			switch each := node.(type) {
			case *ast.FuncDecl:
				if each.Name.Name == name {
					found = each.Body
				}
				return found == nil && each.Name.Name == "validatePluginConfig"
			case *ast.ValueSpec:
				if each.Names[0].Name == name && len(each.Values) == 1 {
					found = each.Values[0]
				}
			}
			return found == nil
		})
		if found != nil {
			return found, &source{root, imports}
		}
	}
	return nil, nil
}

// order is that in which extension points are looked through (getExtensionPoints).
func order(minor int) (points []string) {
	framework := inScheduler + "framework/runtime"
	if minor == 18 {
		framework = inScheduler + "framework/v1alpha1"
	}
	body, _ := declared(framework, "getExtensionPoints", minor)
	ast.Inspect(body, func(node ast.Node) bool {
		if name := nameOf(node); strings.HasPrefix(name, "plugins.") {
			points = append(points, inJSON(strings.TrimPrefix(name, "plugins.")))
		}
		return true
	})
	return
}

func nameOf(node ast.Node) string {
	if expression, ok := node.(ast.Expr); ok {
		return named(expression)
	}
	return ""
}

// stages are where plugins are looked for that a version refuses; none where it refuses none.
func stages(minor int) []string {
	points := []string{}
	body, _ := declared(inScheduler+"apis/config/validation", "validatePluginConfig", minor)
	if body == nil {
		return points
	}
	ast.Inspect(body, func(node ast.Node) bool {
		pair, ok := node.(*ast.KeyValueExpr)
		if ok && strings.HasPrefix(named(pair.Value), "profile.Plugins.") {
			name, _ := strconv.Unquote(pair.Key.(*ast.BasicLit).Value)
			points = append(points, name)
		}
		return true
	})
	return points
}

// groupVersion is what the SchemeGroupVersion of a package says as text.
func groupVersion(path string, minor int) string {
	value, in := declared(path, "SchemeGroupVersion", minor)
	if other, ok := value.(*ast.SelectorExpr); ok {
		return groupVersion(in.imports[named(other.X)], minor)
	}
	version, _ := strconv.Unquote(value.(*ast.CompositeLit).Elts[1].(*ast.KeyValueExpr).Value.(*ast.BasicLit).Value)
	group, _ := declared(path, "GroupName", minor)
	if name, _ := strconv.Unquote(group.(*ast.BasicLit).Value); name != "" {
		return name + "/" + version
	}
	return version
}

// refused are the plugins that a version of the configuration, or one before it, did away with: since → names.
func refused(name string, minor int) map[string][]string {
	found := map[string][]string{}
	for _, list := range []string{"removedPluginsByVersion", "invalidPluginsByVersion"} {
		value, in := declared(inScheduler+"apis/config/validation", list, minor)
		if value == nil {
			continue
		}
		for _, entry := range value.(*ast.CompositeLit).Elts {
			fields := entry.(*ast.CompositeLit).Elts
			package_, _, _ := strings.Cut(named(fields[0].(*ast.KeyValueExpr).Value.(*ast.CallExpr).Fun), ".")
			since := groupVersion(in.imports[package_], minor)
			for _, plugin := range fields[1].(*ast.KeyValueExpr).Value.(*ast.CompositeLit).Elts {
				found[since] = append(found[since], in.text(plugin, ""))
			}
			if strings.HasSuffix(since, "/"+name) {
				return found
			}
		}
	}
	return found
}

// forgotten are the fields of a version's Plugins that are not merged with its defaults (mergePlugins).
func forgotten(name string, minor int) []string {
	found := []string{}
	path := inScheduler + "apis/config/" + name
	function := "mergePlugins"
	if minor <= 21 {
		path, function = inScheduler+"apis/config", "Apply"
	}
	body, _ := declared(path, function, minor)
	merged := map[string]bool{}
	ast.Inspect(body, func(node ast.Node) bool {
		merged[inJSON(strings.TrimPrefix(nameOf(node)+"..", "customPlugins."))] = true
		return true
	})
	for _, field := range fields("k8s.io/kube-scheduler/config/"+name, minor) {
		if !merged[field+".."] {
			found = append(found, field)
		}
	}
	slices.Sort(found)
	return found
}

// fields are those of the Plugins of a version of the configuration.
func fields(path string, minor int) (names []string) {
	words := strings.SplitN(path, "/", 3)
	for _, each := range releases.Files(filepath.Join(releases.Folder(words[0]+"/"+words[1], minor), words[2])) {
		file, _ := releases.Parse(each)
		ast.Inspect(file, func(node ast.Node) bool {
			kind, ok := node.(*ast.TypeSpec)
			if !ok || kind.Name.Name != "Plugins" {
				return true
			}
			for _, field := range kind.Type.(*ast.StructType).Fields.List {
				names = append(names, inJSON(field.Names[0].Name))
			}
			return false
		})
	}
	if names == nil {
		log.Fatalf("%s has no Plugins in 1.%d", path, minor)
	}
	return
}

func printChecks() {
	fmt.Println("{")
	fmt.Printf("\"order\": %s,\n", releases.Steps(releases.Oldest, releases.Newest, func(minor int) any { return order(minor) }))
	fmt.Printf("\"stages\": %s,\n", releases.Steps(releases.Oldest, releases.Newest, func(minor int) any { return stages(minor) }))
	fmt.Printf("\"refused\": %s,\n", releases.ByConfiguration(func(name string, minor int) any { return refused(name, minor) }))
	fmt.Printf("\"forgotten\": %s\n", releases.ByConfiguration(func(name string, minor int) any { return forgotten(name, minor) }))
	fmt.Println("}")
}
