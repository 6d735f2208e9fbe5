// Kinds prints which kinds there are under which API version, JSON, one API version a line: whether objects are in a
// namespace, and the minor versions from 1.18 on whose kube-apiserver serves them by default. It reads the paths of
// api/openapi-spec/swagger.json, and in the sources what is on (“DefaultAPIResourceConfigSource“); nothing is compiled:
// go run ./cmd/kinds > ../../src/topospread/api/kinds.json
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"topospread.dev/oracle/releases"
)

// others are the groups whose servers turn nothing off.
var others = []string{"apiextensions.k8s.io", "apiregistration.k8s.io"}

// resource is a kind under an API version.
type resource struct {
	apiVersion, kind string
}

// enabled are API versions ("apps/v1", the group by its first word), and plurals under them, that are on by default.
type enabled map[string]bool

// switches reads what a minor version turns on.
func switches(minor int) enabled {
	on := enabled{}
	for _, folder := range []string{"pkg/master", "pkg/controlplane"} {
		for _, path := range releases.Files(filepath.Join(releases.Folder("k8s.io/kubernetes", minor), folder)) {
			file, imports := releases.Parse(path)
			ast.Inspect(file, func(node ast.Node) bool {
				switch n := node.(type) {
				case *ast.ValueSpec: // var stableAPIGroupVersionsEnabledByDefault = []schema.GroupVersion{…}
					if strings.Contains(n.Names[0].Name, "EnabledByDefault") {
						on.add(n, imports)
					}
				case *ast.CallExpr: // ret.EnableVersions(…)
					if called, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(called.Sel.Name, "Enable") {
						on.add(n, imports)
					}
				}
				return true
			})
		}
	}
	return on
}

func (on enabled) add(in ast.Node, imports map[string]string) {
	ast.Inspect(in, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && len(call.Args) == 1 {
			if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "WithResource" {
				plural, _ := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
				on[groupVersion(method.X, imports)+"/"+plural] = true
				return false
			}
		}
		if found, ok := node.(*ast.SelectorExpr); ok && found.Sel.Name == "SchemeGroupVersion" {
			on[groupVersion(found, imports)] = true
		}
		return true
	})
}

// groupVersion is “appsv1.SchemeGroupVersion“ as "apps/v1".
func groupVersion(expression ast.Expr, imports map[string]string) string {
	words := strings.Split(imports[expression.(*ast.SelectorExpr).X.(*ast.Ident).Name], "/")
	return strings.Join(words[max(len(words)-2, 0):], "/")
}

func (on enabled) has(apiVersion, plural string) bool {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "core", apiVersion
	}
	short, _, _ := strings.Cut(group, ".")
	return slices.Contains(others, group) || on[short+"/"+version] || on[short+"/"+version+"/"+plural]
}

// served are the kinds that a minor version serves, and whether their objects are in a namespace.
func served(minor int) map[resource]bool {
	data, err := os.ReadFile(filepath.Join(releases.Folder("k8s.io/kubernetes", minor), "api/openapi-spec/swagger.json"))
	if err != nil {
		log.Fatal(err)
	}
	var swagger struct {
		Paths map[string]struct {
			Get *struct {
				Action string                                `json:"x-kubernetes-action"`
				Kind   struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
			}
		}
	}
	if err := json.Unmarshal(data, &swagger); err != nil {
		log.Fatal(err)
	}
	on, found := switches(minor), map[resource]bool{}
	for path, each := range swagger.Paths {
		if each.Get == nil || each.Get.Action != "list" || strings.Contains(path, "/watch/") {
			continue
		}
		kind := each.Get.Kind
		apiVersion := strings.TrimPrefix(kind.Group+"/"+kind.Version, "/")
		if on.has(apiVersion, path[strings.LastIndex(path, "/")+1:]) {
			key := resource{apiVersion, kind.Kind}
			found[key] = found[key] || strings.Contains(path, "/namespaces/{namespace}/")
		}
	}
	return found
}

func main() {
	first, last, namespaced := map[resource]int{}, map[resource]int{}, map[resource]bool{}
	for minor := releases.Oldest; minor <= releases.Newest; minor++ {
		for each, isNamespaced := range served(minor) {
			if _, known := first[each]; !known {
				first[each] = minor
			} else if last[each] != minor-1 {
				log.Fatalf("%v is not served by 1.%d", each, minor-1)
			}
			last[each], namespaced[each] = minor, isNamespaced
		}
	}
	kinds := map[string]map[string]string{}
	for each := range first {
		if kinds[each.apiVersion] == nil {
			kinds[each.apiVersion] = map[string]string{}
		}
		text := map[bool]string{true: "namespaced", false: "cluster"}[namespaced[each]]
		text = fmt.Sprintf("%s %d-", text, first[each])
		if last[each] < releases.Newest {
			text += strconv.Itoa(last[each])
		}
		kinds[each.apiVersion][each.kind] = text
	}
	var lines []string
	for _, apiVersion := range slices.Sorted(maps.Keys(kinds)) {
		line, _ := json.Marshal(kinds[apiVersion])
		lines = append(lines, fmt.Sprintf("%q: %s", apiVersion, line))
	}
	fmt.Printf("{\n%s\n}\n", strings.Join(lines, ",\n"))
}
