// Fieldhistory prints which fields there are in which minor version of Kubernetes, JSON, one struct a line, from the
// sources; nothing of them is compiled. The fields of kube-scheduler's configuration and of its plugins' arguments, by
// version of the configuration, and of the kinds of objects the fields that have come since 1.18:
// go run ./cmd/fieldhistory configuration > ../../src/topospread/config/fields.json
// go run ./cmd/fieldhistory objects > ../../src/topospread/api/new_fields.json
// The internal structs of the arguments in the newest version, as they are written in a message (internal.go):
// go run ./cmd/fieldhistory internal > ../../src/topospread/config/internal_args.json
// And which versions of the configuration there are, from which minor version on, first what it has without a file:
// go run ./cmd/fieldhistory versions > ../../src/topospread/config/api_versions.json
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"log"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"topospread.dev/oracle/releases"
)

const plugins = "k8s.io/kubernetes/pkg/scheduler/framework/plugins/"

// argsOf118 are the structs that plugins of 1.18 decode their arguments into: they had no kinds of their own yet.
var argsOf118 = map[string]string{
	"InterPodAffinity":         plugins + "interpodaffinity.Args",
	"NodeLabel":                plugins + "nodelabel.Args",
	"NodeResourcesFit":         plugins + "noderesources.FitArgs",
	"PodTopologySpread":        plugins + "podtopologyspread.Args",
	"RequestedToCapacityRatio": "k8s.io/kube-scheduler/config/v1.RequestedToCapacityRatioArguments",
	"ServiceAffinity":          plugins + "serviceaffinity.Args",
}

// leaves decode themselves, or are of one type by their name.
var leaves = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration": "duration",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":  "any",
	"k8s.io/apimachinery/pkg/runtime.Unknown":       "any",
	"time.Duration": "int64",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":       "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":  "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":   "any",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": "intorstring",
}

type reader struct {
	minor    int
	packages map[string]map[string]declared
	structs  map[string]map[string]string // as they are printed, by the name of the type
}

// declared is a type, and what the names of packages mean where it stands.
type declared struct {
	path    string
	spec    *ast.TypeSpec
	imports map[string]string
}

func (r *reader) types(path string) map[string]declared {
	if found, ok := r.packages[path]; ok {
		return found
	}
	found := map[string]declared{}
	r.packages[path] = found
	words := strings.SplitN(path, "/", 3)
	folder := filepath.Join(releases.Folder(words[0]+"/"+words[1], r.minor), words[2])
	for _, name := range releases.Files(folder) {
		file, imports := releases.Parse(name)
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				found[spec.Name.Name] = declared{path, spec, imports}
			}
			return true
		})
	}
	return found
}

// named is what is printed for a type of a package: a scalar, or the name of a struct.
func (r *reader) named(path, name string) string {
	if leaf, ok := leaves[path+"."+name]; ok {
		return leaf
	}
	found, ok := r.types(path)[name]
	if !ok {
		log.Fatalf("%s.%s of 1.%d is nowhere", path, name, r.minor)
	}
	literal, ok := found.spec.Type.(*ast.StructType)
	if !ok {
		return r.name(found.spec.Type, found)
	}
	if _, ok := r.structs[name]; !ok {
		r.structs[name] = map[string]string{}
		r.fields(literal, found, r.structs[name])
	}
	return name
}

func (r *reader) name(expression ast.Expr, in declared) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return r.name(e.X, in)
	case *ast.ArrayType:
		if elem, ok := e.Elt.(*ast.Ident); ok && elem.Name == "byte" {
			return "bytes"
		}
		return "[]" + r.name(e.Elt, in)
	case *ast.MapType:
		return "map " + r.name(e.Value, in)
	case *ast.SelectorExpr:
		return r.named(in.imports[e.X.(*ast.Ident).Name], e.Sel.Name)
	case *ast.Ident:
		switch e.Name {
		case "string", "bool", "int32", "int64", "float32", "float64":
			return e.Name
		case "int":
			return "int64"
		}
		return r.named(in.path, e.Name)
	}
	log.Fatalf("%T in %s", expression, in.path)
	return ""
}

func (r *reader) fields(literal *ast.StructType, in declared, into map[string]string) {
	for _, field := range literal.Fields.List {
		tag := ""
		if field.Tag != nil {
			text, _ := strconv.Unquote(field.Tag.Value)
			tag, _, _ = strings.Cut(reflect.StructTag(text).Get("json"), ",")
		}
		switch {
		case tag == "-":
		case tag == "" && len(field.Names) == 0: // embedded
			maps.Copy(into, r.structs[r.name(field.Type, in)])
		case tag == "":
			log.Fatalf("%s.%s has no name in JSON", in.spec.Name.Name, field.Names[0].Name)
		default:
			into[tag] = r.name(field.Type, in)
		}
	}
}

// read gives the structs of a version of the configuration in a minor version of Kubernetes.
func read(name string, minor int) map[string]map[string]string {
	r := &reader{minor, map[string]map[string]declared{}, map[string]map[string]string{}}
	path := "k8s.io/kube-scheduler/config/" + name
	r.named(path, "KubeSchedulerConfiguration")
	for each := range r.types(path) {
		if strings.HasSuffix(each, "Args") {
			r.named(path, each)
		}
	}
	if minor == 18 {
		for plugin, args := range argsOf118 {
			at := strings.LastIndex(args, ".")
			kind := r.named(args[:at], args[at+1:])
			r.structs[plugin+"Args"] = r.structs[kind]
			delete(r.structs, kind) // several are called Args
		}
	}
	return r.structs
}

// merged says of every field from which minor version on it is there, where that is not the first one that serves it.
func merged(name string, first, last int) map[string]map[string]string {
	all := map[string]map[string]string{}
	for minor := last; minor >= first; minor-- {
		for kind, fields := range read(name, minor) {
			if all[kind] == nil {
				all[kind] = map[string]string{}
			}
			for field, what := range fields {
				if before, ok := all[kind][field]; ok && strings.Fields(before)[0] != strings.Fields(what)[0] {
					log.Fatalf("%s.%s of %s is %s and %s", kind, field, name, before, what)
				}
				if minor > first {
					what = fmt.Sprintf("%s since %d", what, minor)
				}
				all[kind][field] = what
			}
		}
	}
	return all
}

// kinds are the objects that are looked at, where every version has them.
var kinds = map[string][]string{
	"k8s.io/api/core/v1":  {"Pod", "Node", "PersistentVolume", "PersistentVolumeClaim", "Service", "Namespace", "LimitRange"},
	"k8s.io/api/apps/v1":  {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"},
	"k8s.io/api/batch/v1": {"Job"},
}

// objects says of the fields that a later version than the oldest brought which that was.
func objects() map[string]map[string]int {
	since := map[string]map[string]int{}
	for minor := releases.Newest; minor >= releases.Oldest; minor-- {
		r := &reader{minor, map[string]map[string]declared{}, map[string]map[string]string{}}
		for path, names := range kinds {
			for _, name := range names {
				r.named(path, name)
			}
		}
		for kind, fields := range r.structs {
			for field := range fields {
				if since[kind] == nil {
					since[kind] = map[string]int{}
				}
				since[kind][field] = minor
			}
		}
	}
	for kind, fields := range since {
		maps.DeleteFunc(fields, func(_ string, minor int) bool { return minor == releases.Oldest })
		if len(fields) == 0 {
			delete(since, kind)
		}
	}
	return since
}

func lines[T any](kinds map[string]T) string {
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		line, _ := json.Marshal(kinds[kind])
		lines = append(lines, fmt.Sprintf("%q: %s", kind, line))
	}
	return fmt.Sprintf("{\n%s\n}", strings.Join(lines, ",\n"))
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "objects" {
		fmt.Println(lines(objects()))
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "internal" {
		fmt.Println(lines(internal()))
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "versions" {
		served := func(minor int) any { return releases.Served(minor) }
		fmt.Println(releases.Steps(releases.Oldest, releases.Newest, served))
		return
	}
	var versions []string
	for _, version := range releases.Configurations() {
		text := lines(merged(version.Name, version.First, version.Last))
		versions = append(versions, fmt.Sprintf("%q: %s", version.Name, text))
	}
	fmt.Printf("{\n%s\n}\n", strings.Join(versions, ",\n"))
}
