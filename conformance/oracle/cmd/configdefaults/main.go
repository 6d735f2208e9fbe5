// Configdefaults prints what a KubeSchedulerConfiguration that says nothing has, and the arguments of its plugins, JSON:
// version → struct → minor version of Kubernetes from which on → field → value. After " if " stands what a default takes
// besides that its field is empty: gates that are on and fields that are not empty, with "!" the reverse. A field's
// name has dots where it is one of a struct that may be given without it, and "[]" where it is one of a list's items.
// Profiles are not among them; PodTopologySpread's own constraints are, as those of a struct "systemDefaultConstraints".
// Nothing of the sources is compiled.
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

const podTopologySpread = "k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"

// folder is where a package of Kubernetes lies.
func folder(path string, minor int) string {
	parts := strings.SplitN(path, "/", 3)
	if len(parts) < 3 || parts[0] != "k8s.io" {
		return ""
	}
	return filepath.Join(releases.Folder(parts[0]+"/"+parts[1], minor), parts[2])
}

// constant is what a package declares as the value of a name; nil where it does not.
func constant(path, name string, minor int) any {
	for _, each := range releases.Files(folder(path, minor)) {
		file, imports := releases.Parse(each)
		for _, decl := range file.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok || general.Tok != token.CONST && general.Tok != token.VAR {
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
	case *ast.CallExpr: // ptr.To[int32](1), pointer.Int32Ptr(1), int64(1); append to what is empty
		if name, ok := e.Fun.(*ast.Ident); ok && name.Name == "append" {
			if e.Ellipsis.IsValid() {
				return s.value(e.Args[1], known)
			}
			return s.list(e.Args[1:], known)
		}
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
	case *ast.CompositeLit:
		return s.literal(e, known)
	}
	return nil
}

// structure is a struct that is a default as a whole.
type structure map[string]any

// literal is a list or a struct; a Duration{Duration: …} is what it holds.
func (s *source) literal(e *ast.CompositeLit, known map[string]any) any {
	if _, ok := e.Type.(*ast.ArrayType); ok {
		return s.list(e.Elts, known)
	}
	if kind, ok := e.Type.(*ast.SelectorExpr); ok && kind.Sel.Name == "Duration" && len(e.Elts) == 1 {
		return s.value(e.Elts[0].(*ast.KeyValueExpr).Value, known)
	}
	fields := structure{}
	for _, element := range e.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return nil
		}
		value := s.value(pair.Value, known)
		if value == nil {
			return nil
		}
		fields[inJSON(pair.Key.(*ast.Ident).Name)] = value
	}
	if len(fields) == 0 {
		return nil
	}
	return fields
}

func (s *source) list(items []ast.Expr, known map[string]any) any {
	values := []any{}
	for _, item := range items {
		value := s.value(item, known)
		if value == nil {
			return nil
		}
		values = append(values, value)
	}
	return values
}

// inJSON is what a field is called there.
func inJSON(name string) string {
	if strings.ToUpper(name) == name {
		return strings.ToLower(name)
	}
	return strings.ToLower(name[:1]) + name[1:]
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
	case *ast.IndexExpr:
		if above := steps(e.X); len(above) > 0 {
			above[len(above)-1] += "[]"
			return above
		}
	case *ast.SelectorExpr:
		above := steps(e.X)
		if above == nil || e.Sel.Name == "LeaderElectionConfiguration" { // which is inline
			return above
		}
		return append(above, inJSON(e.Sel.Name))
	}
	return nil
}

// terms are what a condition asks: "Gate", "field" that is not empty, "!" before either for the reverse; nil where it
// asks anything else.
func terms(condition ast.Expr) []string {
	switch e := condition.(type) {
	case *ast.StarExpr: // of a pointer that is set
		if path := steps(e.X); len(path) > 0 {
			return []string{strings.Join(path, ".")}
		}
	case *ast.UnaryExpr:
		if asked := terms(e.X); len(asked) == 1 && e.Op == token.NOT {
			return not(asked)
		}
	case *ast.CallExpr: // feature.DefaultFeatureGate.Enabled(features.Name)
		if enabled, ok := e.Fun.(*ast.SelectorExpr); ok && enabled.Sel.Name == "Enabled" {
			return []string{e.Args[0].(*ast.SelectorExpr).Sel.Name}
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND {
			one, other := terms(e.X), terms(e.Y)
			if one != nil && other != nil {
				return append(one, other...)
			}
			return nil
		}
		field := e.X
		if length, ok := field.(*ast.CallExpr); ok && len(length.Args) == 1 {
			if number, ok := e.Y.(*ast.BasicLit); !ok || number.Value != "0" {
				return nil
			}
			field = length.Args[0]
		}
		if path := strings.Join(steps(field), "."); path != "" && e.Op == token.EQL {
			return []string{"!" + path}
		} else if path != "" && e.Op == token.NEQ {
			return []string{path}
		}
	}
	return nil
}

// not is the reverse of one term; of several it is none of the terms there are.
func not(asked []string) []string {
	if len(asked) != 1 {
		return nil
	}
	if reverse, ok := strings.CutPrefix(asked[0], "!"); ok {
		return []string{reverse}
	}
	return []string{"!" + asked[0]}
}

// fill adds what a block sets; what is there already was set before.
func (s *source) fill(block []ast.Stmt, under []string, into map[string]any) {
	known := map[string]any{}
	for _, statement := range block {
		switch each := statement.(type) {
		case *ast.IfStmt:
			asked := terms(each.Cond)
			if asked == nil {
				continue
			}
			s.fill(each.Body.List, slices.Concat(under, asked), into)
			otherwise := not(asked)
			if other, ok := each.Else.(*ast.BlockStmt); ok && otherwise != nil {
				s.fill(other.List, slices.Concat(under, otherwise), into)
			}
			if _, ok := each.Body.List[len(each.Body.List)-1].(*ast.ReturnStmt); ok {
				under = slices.Concat(under, otherwise)
			}
		case *ast.RangeStmt:
			s.fill(each.Body.List, under, into)
		case *ast.AssignStmt:
			if !s.assign(each, under, known, into) {
				return
			}
		case *ast.ExprStmt:
			call, ok := each.X.(*ast.CallExpr)
			if !ok {
				continue
			}
			name, ok := call.Fun.(*ast.SelectorExpr)
			if ok && strings.HasPrefix(name.Sel.Name, "RecommendedDefault") {
				shared, of := declared(s.imports[name.X.(*ast.Ident).Name], name.Sel.Name, s.minor)
				of.fill(shared.Body.List, under, inside(into, steps(call.Args[0])))
			}
		}
	}
}

// assign adds what one assignment sets under some terms, or remembers a variable; false: what it is is not known here.
func (s *source) assign(assignment *ast.AssignStmt, under []string, known, into map[string]any) bool {
	value := s.value(assignment.Rhs[0], known)
	if assignment.Tok == token.DEFINE {
		known[assignment.Lhs[0].(*ast.Ident).Name] = value
		return true
	}
	path := steps(assignment.Lhs[0])
	if value == nil || len(path) == 0 {
		return false
	}
	if duration, ok := value.(time.Duration); ok {
		value = duration.String()
	}
	field := path[len(path)-1]
	if _, whole := into[path[0]].(structure); whole || strings.Contains(path[0], "[]") {
		field = strings.Join(path, ".")
	} else {
		into = inside(into, path[:len(path)-1])
	}
	var others []string
	for _, term := range under {
		if term != "!"+strings.Join(path, ".") && !strings.HasPrefix(path[0], term) {
			others = append(others, term)
		}
	}
	if len(others) > 0 {
		field += " if " + strings.Join(others, " ")
	}
	if into[field] == nil {
		into[field] = value
	}
	return true
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

var known = map[string]map[string]map[string]any{}

// defaults are those of each struct of a version that has any.
func defaults(name string, minor int) map[string]map[string]any {
	if found, ok := known[fmt.Sprint(name, minor)]; ok {
		return found
	}
	path := "k8s.io/kubernetes/pkg/scheduler/apis/config/" + name
	file, imports := releases.Parse(filepath.Join(folder(path, minor), "defaults.go"))
	found := map[string]map[string]any{}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(function.Name.Name, "SetDefaults_") {
			continue
		}
		into := map[string]any{}
		(&source{minor, path, imports}).fill(function.Body.List, nil, into)
		if len(into) > 0 {
			found[strings.TrimPrefix(function.Name.Name, "SetDefaults_")] = into
		}
	}
	if built := constant(podTopologySpread, "systemDefaultConstraints", minor); built != nil {
		found["systemDefaultConstraints"] = map[string]any{"defaultConstraints": built}
	}
	known[fmt.Sprint(name, minor)] = found
	return found
}

func main() {
	var versions []string
	for _, version := range releases.Configurations() {
		first := map[string]int{}
		for minor := version.Last; minor >= version.First; minor-- {
			for kind := range defaults(version.Name, minor) {
				first[kind] = minor
			}
		}
		var lines []string
		for _, kind := range slices.Sorted(maps.Keys(first)) {
			of := func(minor int) any { return defaults(version.Name, minor)[kind] }
			lines = append(lines, fmt.Sprintf("%q: %s", kind, releases.Steps(first[kind], version.Last, of)))
		}
		versions = append(versions, fmt.Sprintf("%q: {\n%s\n}", version.Name, strings.Join(lines, ",\n")))
	}
	fmt.Printf("{\n%s\n}\n", strings.Join(versions, ",\n"))
}
