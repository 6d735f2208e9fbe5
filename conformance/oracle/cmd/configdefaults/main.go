// Configdefaults prints what a KubeSchedulerConfiguration that says nothing has, and the arguments of its plugins, JSON:
// version → minor version of Kubernetes from which on → struct → field → value. What a default takes besides that the
// field is empty (a gate, another field), and lists, are not printed. Nothing of the sources is compiled.
// go run ./cmd/configdefaults > ../../src/topospread/config/defaults.json
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"topospread.dev/oracle/releases"
)

// source is a file of a minor version, and what the names of packages mean in it.
type source struct {
	minor   int
	path    string
	imports map[string]string
}

var units = map[string]time.Duration{"Second": time.Second, "Minute": time.Minute}

// folder is where a package of Kubernetes lies.
func folder(path string, minor int) string {
	parts := strings.SplitN(path, "/", 3)
	if len(parts) < 3 || parts[0] != "k8s.io" {
		return ""
	}
	return filepath.Join(releases.Folder(parts[0]+"/"+parts[1], minor), parts[2])
}

// constant is what a package declares under a name; nil where it does not.
func constant(path, name string, minor int) any {
	for _, each := range releases.Files(folder(path, minor)) {
		file, imports := releases.Parse(each)
		for _, decl := range file.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok || general.Tok != token.CONST {
				continue
			}
			for _, spec := range general.Specs {
				values := spec.(*ast.ValueSpec)
				for i, declared := range values.Names {
					if declared.Name == name && i < len(values.Values) {
						return (&source{minor, path, imports}).value(values.Values[i], nil)
					}
				}
			}
		}
	}
	return nil
}

// value is what an expression stands for; nil for what is no constant. known: variables of the block.
func (s *source) value(expression ast.Expr, known map[string]any) any {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
		return json.Number(e.Value)
	case *ast.UnaryExpr: // &variable
		return s.value(e.X, known)
	case *ast.CallExpr: // ptr.To[int32](1), pointer.Int32Ptr(1), int64(1)
		if len(e.Args) == 1 {
			return s.value(e.Args[0], known)
		}
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			return e.Name == "true"
		}
		if found, ok := known[e.Name]; ok {
			return found
		}
		return constant(s.path, e.Name, s.minor)
	case *ast.SelectorExpr:
		if name, ok := e.X.(*ast.Ident); ok && s.imports[name.Name] != "" {
			if s.imports[name.Name] == "time" {
				return units[e.Sel.Name]
			}
			return constant(s.imports[name.Name], e.Sel.Name, s.minor)
		}
	case *ast.BinaryExpr: // 15 * time.Second
		number, ok := s.value(e.X, known).(json.Number)
		unit, timed := s.value(e.Y, known).(time.Duration)
		if ok && timed && e.Op == token.MUL {
			count, _ := number.Int64()
			return time.Duration(count) * unit
		}
	case *ast.CompositeLit: // metav1.Duration{Duration: …}
		if kind, ok := e.Type.(*ast.SelectorExpr); ok && kind.Sel.Name == "Duration" && len(e.Elts) == 1 {
			return s.value(e.Elts[0].(*ast.KeyValueExpr).Value, known)
		}
	}
	return nil
}

// steps are the fields of obj that an expression goes through, as JSON has them.
func steps(expression ast.Expr) []string {
	switch e := expression.(type) {
	case *ast.Ident:
		if e.Name == "obj" {
			return []string{}
		}
	case *ast.UnaryExpr:
		return steps(e.X)
	case *ast.SelectorExpr:
		above := steps(e.X)
		name := strings.ToLower(e.Sel.Name[:1]) + e.Sel.Name[1:]
		if strings.ToUpper(e.Sel.Name) == e.Sel.Name {
			name = strings.ToLower(e.Sel.Name)
		}
		if above == nil || e.Sel.Name == "LeaderElectionConfiguration" { // which is inline
			return above
		}
		return append(above, name)
	}
	return nil
}

// isEmpty tells whether a condition asks no more than whether a field is empty.
func isEmpty(condition ast.Expr) bool {
	compared, ok := condition.(*ast.BinaryExpr)
	if !ok || compared.Op != token.EQL {
		return false
	}
	field := compared.X
	if length, ok := field.(*ast.CallExpr); ok && len(length.Args) == 1 {
		field = length.Args[0]
	}
	return len(steps(field)) > 0
}

// fill adds what a function sets where it is empty; what is there already was set before.
func (s *source) fill(function *ast.FuncDecl, into map[string]any) {
	for _, statement := range function.Body.List {
		switch each := statement.(type) {
		case *ast.IfStmt:
			if isEmpty(each.Cond) {
				s.assigned(each.Body.List, into)
			}
		case *ast.ExprStmt:
			call, ok := each.X.(*ast.CallExpr)
			if !ok {
				continue
			}
			name, ok := call.Fun.(*ast.SelectorExpr)
			if ok && strings.HasPrefix(name.Sel.Name, "RecommendedDefault") {
				shared, of := declared(s.imports[name.X.(*ast.Ident).Name], name.Sel.Name, s.minor)
				of.fill(shared, inside(into, steps(call.Args[0])))
			}
		}
	}
}

// assigned adds what a block of declarations and one assignment sets.
func (s *source) assigned(block []ast.Stmt, into map[string]any) {
	known := map[string]any{}
	for _, statement := range block {
		assignment, ok := statement.(*ast.AssignStmt)
		if !ok {
			return
		}
		value := s.value(assignment.Rhs[0], known)
		if assignment.Tok == token.DEFINE {
			known[assignment.Lhs[0].(*ast.Ident).Name] = value
			continue
		}
		path := steps(assignment.Lhs[0])
		if value == nil || len(path) == 0 {
			return
		}
		if duration, ok := value.(time.Duration); ok {
			value = duration.String()
		}
		last := len(path) - 1
		if at := inside(into, path[:last]); at[path[last]] == nil {
			at[path[last]] = value
		}
	}
}

// inside is the object at a path, made where it is not there.
func inside(object map[string]any, path []string) map[string]any {
	for _, step := range path {
		if object[step] == nil {
			object[step] = map[string]any{}
		}
		object = object[step].(map[string]any)
	}
	return object
}

// declared is a function of a package, and the file that it stands in.
func declared(path, name string, minor int) (*ast.FuncDecl, *source) {
	for _, each := range releases.Files(folder(path, minor)) {
		file, imports := releases.Parse(each)
		for _, decl := range file.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Name.Name == name {
				return function, &source{minor, path, imports}
			}
		}
	}
	panic(path + "." + name)
}

// defaults gives a line for each struct of a version that has any.
func defaults(name string, minor int) []string {
	path := "k8s.io/kubernetes/pkg/scheduler/apis/config/" + name
	file, imports := releases.Parse(filepath.Join(folder(path, minor), "defaults.go"))
	found := map[string]map[string]any{}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(function.Name.Name, "SetDefaults_") {
			continue
		}
		into := map[string]any{}
		(&source{minor, path, imports}).fill(function, into)
		if len(into) > 0 {
			found[strings.TrimPrefix(function.Name.Name, "SetDefaults_")] = into
		}
	}
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		line, err := json.Marshal(found[kind])
		if err != nil {
			panic(err)
		}
		lines = append(lines, fmt.Sprintf("%q: %s", kind, line))
	}
	return lines
}

func main() {
	var versions []string
	for _, configuration := range releases.Configurations {
		var before string
		var printed []string
		for minor := configuration.First; minor <= configuration.Last; minor++ {
			now := strings.Join(defaults(configuration.Name, minor), ",\n")
			if now != before {
				printed = append(printed, fmt.Sprintf("\"%d\": {\n%s\n}", minor, now))
			}
			before = now
		}
		versions = append(versions, fmt.Sprintf("%q: {\n%s\n}", configuration.Name, strings.Join(printed, ",\n")))
	}
	fmt.Printf("{\n%s\n}\n", strings.Join(versions, ",\n"))
}
