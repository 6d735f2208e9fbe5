// Package releases finds the sources of Kubernetes' minor versions, and of the libraries that come with them, and parses
// them; it compiles nothing.
package releases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Newest is the last minor version that is read, and Oldest the first: 1.18, unless OLDEST=37 says another.
const Newest, first = 37, 18

var Oldest = oldest()

func oldest() int {
	if wanted, err := strconv.Atoi(os.Getenv("OLDEST")); err == nil {
		return wanted
	}
	return first
}

// patches are the versions whose sources are read, by minor version from the oldest on.
var patches = []string{"18.19", "19.16", "20.15", "21.14", "22.17", "23.17", "24.17", "25.16", "26.15", "27.16",
	"28.15", "29.6", "30.14", "31.14", "32.13", "33.13", "34.4", "35.4", "36.3", "37.0"}

// others are modules that cannot be downloaded, and the patch that is read instead.
var others = map[string]string{"k8s.io/kube-scheduler@v0.31.14": "31.0", "k8s.io/kube-scheduler@v0.32.13": "32.0"}

// Configuration is a version of kube-scheduler's configuration, with the minor versions that serve it.
type Configuration struct {
	Name        string
	First, Last int
}

// Served are the versions of the configuration that a minor version serves, first the one that it has without a file.
func Served(minor int) (names []string) {
	path := filepath.Join(Folder("k8s.io/kubernetes", minor), "pkg/scheduler/apis/config/scheme/scheme.go")
	file, imports := Parse(path)
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if function, ok := call.Fun.(*ast.SelectorExpr); !ok || function.Sel.Name != "SetVersionPriority" {
			return true
		}
		for _, version := range call.Args {
			package_ := version.(*ast.SelectorExpr).X.(*ast.Ident).Name
			names = append(names, filepath.Base(imports[package_]))
		}
		return false
	})
	return
}

// Configurations are all versions of the configuration, oldest first, but v1alpha1: it has no profiles.
var Configurations = sync.OnceValue(func() (found []Configuration) {
	for minor := Oldest; minor <= Newest; minor++ {
		for _, name := range slices.Backward(Served(minor)) {
			at := slices.IndexFunc(found, func(each Configuration) bool { return each.Name == name })
			switch {
			case at >= 0:
				found[at].Last = minor
			case name != "v1alpha1":
				found = append(found, Configuration{name, minor, minor})
			}
		}
	}
	return
})

// Folder is where a module of a minor version lies: k8s.io/kubernetes, or one of its libraries, as k8s.io/api.
func Folder(module string, minor int) string {
	major, patch := "@v0.", patches[minor-first]
	if module == "k8s.io/kubernetes" {
		major = "@v1."
	}
	module += major + cmp.Or(others[module+major+patch], patch)
	var found struct{ Dir string }
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		log.Fatalf("%s: %v", module, err)
	}
	return found.Dir
}

// Files are the paths of a folder's Go files but its tests.
func Files(folder string) (files []string) {
	paths, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
	}
	return
}

// Parse reads a file, and what the names of packages mean in it.
func Parse(path string) (*ast.File, map[string]string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		log.Fatal(err)
	}
	imports := map[string]string{}
	for _, each := range file.Imports {
		imported, _ := strconv.Unquote(each.Path.Value)
		alias := imported[strings.LastIndex(imported, "/")+1:]
		if each.Name != nil {
			alias = each.Name.Name
		}
		imports[alias] = imported
	}
	return file, imports
}

// Steps says from which minor version on what is so, one line a change; what is as before is not said again.
func Steps(first, last int, of func(minor int) any) string {
	var lines []string
	before := ""
	for minor := first; minor <= last; minor++ {
		now, err := json.Marshal(of(minor))
		if err != nil {
			log.Fatal(err)
		}
		if string(now) != before {
			lines = append(lines, fmt.Sprintf("\"%d\": %s", minor, now))
		}
		before = string(now)
	}
	return fmt.Sprintf("{\n%s\n}", strings.Join(lines, ",\n"))
}

// ByConfiguration are the steps of every version of the configuration in the minor versions that serve it.
func ByConfiguration(of func(name string, minor int) any) string {
	var versions []string
	for _, each := range Configurations() {
		text := Steps(each.First, each.Last, func(minor int) any { return of(each.Name, minor) })
		versions = append(versions, fmt.Sprintf("%q: %s", each.Name, text))
	}
	return fmt.Sprintf("{\n%s\n}", strings.Join(versions, ",\n"))
}
