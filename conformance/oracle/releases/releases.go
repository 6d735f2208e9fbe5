// Package releases finds the sources of Kubernetes' minor versions, and of the libraries that come with them, and parses
// them; it compiles nothing.
package releases

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Oldest and Newest are the minor versions that are read.
const Oldest, Newest = 18, 37

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

// Configurations are all versions of the configuration.
var Configurations = []Configuration{
	{"v1alpha2", 18, 18}, {"v1beta1", 19, 22}, {"v1beta2", 22, 27}, {"v1beta3", 23, 28}, {"v1", 25, Newest}}

// Folder is where a module of a minor version lies: k8s.io/kubernetes, or one of its libraries, as k8s.io/api.
func Folder(module string, minor int) string {
	major, patch := "@v0.", patches[minor-Oldest]
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
