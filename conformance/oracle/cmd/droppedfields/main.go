// Droppedfields prints without which feature gate the API server drops a field of an object, JSON, one struct a line
// (several gates, the oldest first, where versions or places have different ones): it follows what the strategies of
// every minor version assign where a gate is off. What they do otherwise (a whole item of a list, a list cut) is not in
// it. Nothing is compiled:
// go run ./cmd/droppedfields > ../../src/topospread/admission/dropped_fields.json
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"log"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"topospread.dev/oracle/releases"
)

// folders drop fields of the kinds that are looked at; not every version has all of them.
var folders = []string{
	"pkg/api/pod", "pkg/api/persistentvolume", "pkg/api/persistentvolumeclaim", "pkg/registry/core/node",
	"pkg/registry/apps/statefulset", "pkg/registry/batch/job", "pkg/registry/node/runtimeclass",
	"pkg/apis/scheduling/util",
}

// groups are where the types of these kinds are declared; internal ones have the same Go names.
var groups = []string{"core/v1", "apps/v1", "batch/v1", "node/v1", "node/v1beta1", "scheduling/v1"}

// field is one of a struct, by its name in JSON and the name of its type.
type field struct{ json, kind string }

// fields are a struct's, by their names in Go.
type fields map[string]field

// version is what is read of a minor version.
type version struct {
	structs   map[string]fields
	embedded  map[string][]string
	functions map[string]*ast.FuncDecl
	dropped   map[string]map[string]string // struct → field → gate
}

func read(minor int) *version {
	v := &version{map[string]fields{}, map[string][]string{}, map[string]*ast.FuncDecl{}, map[string]map[string]string{}}
	for _, group := range groups {
		for _, path := range releases.Files(filepath.Join(releases.Folder("k8s.io/api", minor), group)) {
			file, _ := releases.Parse(path)
			ast.Inspect(file, v.declared)
		}
	}
	var declared []*ast.FuncDecl
	for _, folder := range folders {
		for _, path := range releases.Files(filepath.Join(releases.Folder("k8s.io/kubernetes", minor), folder)) {
			file, _ := releases.Parse(path)
			for _, each := range file.Decls {
				if function, ok := each.(*ast.FuncDecl); ok && function.Body != nil {
					declared = append(declared, function)
					v.functions[function.Name.Name] = function
				}
			}
		}
	}
	for _, function := range declared {
		v.function(function.Type, function.Body, scope{}, "")
	}
	return v
}

func (v *version) declared(node ast.Node) bool {
	spec, ok := node.(*ast.TypeSpec)
	if !ok {
		return true
	}
	literal, ok := spec.Type.(*ast.StructType)
	if !ok {
		return false
	}
	found := fields{}
	for _, each := range literal.Fields.List {
		if each.Tag == nil {
			continue
		}
		if len(each.Names) == 0 {
			v.embedded[spec.Name.Name] = append(v.embedded[spec.Name.Name], kindOf(each.Type))
			continue
		}
		text, _ := strconv.Unquote(each.Tag.Value)
		name, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
		found[each.Names[0].Name] = field{name, kindOf(each.Type)}
	}
	if known, ok := v.structs[spec.Name.Name]; ok { // of an older version of the API
		maps.Copy(found, known)
	}
	v.structs[spec.Name.Name] = found
	return false
}

// field finds one of a struct, or of those that it embeds.
func (v *version) field(owner, name string) (field, bool) {
	found, ok := v.structs[owner][name]
	for _, each := range v.embedded[owner] {
		if !ok {
			found, ok = v.field(each, name)
		}
	}
	return found, ok
}

// kindOf is the name of a type, of what it points to, or of the items of a list of it.
func kindOf(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return kindOf(e.X)
	case *ast.ArrayType:
		return kindOf(e.Elt)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// scope says of what type variables are, and which functions they hold.
type scope struct {
	kinds  map[string]string
	locals map[string]*ast.FuncLit
	calls  []string
}

func (s scope) inner() scope {
	inner := scope{maps.Clone(s.kinds), maps.Clone(s.locals), s.calls}
	if inner.kinds == nil {
		inner.kinds, inner.locals = map[string]string{}, map[string]*ast.FuncLit{}
	}
	return inner
}

func (v *version) function(kind *ast.FuncType, body *ast.BlockStmt, outer scope, gate string) {
	inner := outer.inner()
	for _, parameter := range kind.Params.List {
		for _, name := range parameter.Names {
			inner.kinds[name.Name] = kindOf(parameter.Type)
		}
	}
	v.block(body.List, inner, gate)
}

// block follows statements; gate is the one that is off where they are reached.
func (v *version) block(statements []ast.Stmt, s scope, gate string) {
	for _, statement := range statements {
		switch n := statement.(type) {
		case *ast.IfStmt:
			named, off := gateIn(n.Cond)
			switch {
			case named != "" && off:
				v.block(n.Body.List, s.inner(), named)
			case named != "" && returns(n.Body):
				gate = named
			default:
				v.block(n.Body.List, s.inner(), gate)
			}
			if rest, ok := n.Else.(*ast.BlockStmt); ok {
				v.block(rest.List, s.inner(), gate)
			}
		case *ast.ForStmt:
			v.block(n.Body.List, s.inner(), gate)
		case *ast.RangeStmt:
			inner := s.inner()
			if value, ok := n.Value.(*ast.Ident); ok {
				inner.kinds[value.Name] = v.kind(n.X, s)
			}
			v.block(n.Body.List, inner, gate)
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok {
				v.call(call, s, gate)
			}
		case *ast.AssignStmt:
			v.assigned(n, s, gate)
		}
	}
}

// call follows what is called while a gate is off, and functions that are handed on.
func (v *version) call(call *ast.CallExpr, s scope, gate string) {
	for _, argument := range call.Args {
		if literal, ok := argument.(*ast.FuncLit); ok {
			v.function(literal.Type, literal.Body, s, gate)
		}
	}
	name, ok := call.Fun.(*ast.Ident)
	if !ok || gate == "" || slices.Contains(s.calls, name.Name) {
		return
	}
	inner := s.inner()
	inner.calls = append(slices.Clone(s.calls), name.Name)
	if local, ok := s.locals[name.Name]; ok {
		v.function(local.Type, local.Body, inner, gate)
	} else if function, ok := v.functions[name.Name]; ok {
		v.function(function.Type, function.Body, scope{calls: inner.calls}, gate)
	}
}

func (v *version) assigned(n *ast.AssignStmt, s scope, gate string) {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return
	}
	switch to := n.Lhs[0].(type) {
	case *ast.Ident:
		if literal, ok := n.Rhs[0].(*ast.FuncLit); ok {
			s.locals[to.Name] = literal
		} else {
			s.kinds[to.Name] = v.kind(n.Rhs[0], s)
		}
	case *ast.SelectorExpr:
		owner := v.kind(to.X, s)
		found, known := v.field(owner, to.Sel.Name)
		if gate == "" || !known || !empties(n.Rhs[0]) {
			return
		}
		if v.dropped[owner] == nil {
			v.dropped[owner] = map[string]string{}
		}
		v.dropped[owner][found.json] = gate
	}
}

// kind is the type of an expression: of a variable, a field, an item of a list, or what is pointed to.
func (v *version) kind(expression ast.Expr, s scope) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return s.kinds[e.Name]
	case *ast.IndexExpr:
		return v.kind(e.X, s)
	case *ast.StarExpr:
		return v.kind(e.X, s)
	case *ast.UnaryExpr:
		return v.kind(e.X, s)
	case *ast.SelectorExpr:
		owner := v.kind(e.X, s)
		if found, ok := v.field(owner, e.Sel.Name); ok {
			return found.kind
		}
		return owner // an embedded struct, as VolumeSource: its fields are those of the struct that has it in the API
	case *ast.TypeAssertExpr:
		return kindOf(e.Type)
	}
	return ""
}

// empties tells “nil“ and “""“.
func empties(expression ast.Expr) bool {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name == "nil"
	case *ast.BasicLit:
		return e.Kind == token.STRING && e.Value == `""`
	}
	return false
}

// gateIn is the gate that a condition asks about, and whether the condition holds where it is off.
func gateIn(condition ast.Expr) (name string, off bool) {
	ast.Inspect(condition, func(node ast.Node) bool {
		if not, ok := node.(*ast.UnaryExpr); ok && not.Op == token.NOT {
			if inner, _ := gateIn(not.X); inner != "" && name == "" {
				name, off = inner, true
			}
			return name == ""
		}
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || name != "" {
			return true
		}
		if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Enabled" {
			if gate, ok := call.Args[0].(*ast.SelectorExpr); ok {
				name = gate.Sel.Name
			}
		}
		return true
	})
	return
}

func returns(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	_, ok := body.List[len(body.List)-1].(*ast.ReturnStmt)
	return ok
}

func main() {
	all := map[string]map[string]string{}
	for minor := releases.Oldest; minor <= releases.Newest; minor++ {
		for owner, found := range read(minor).dropped {
			if all[owner] == nil {
				all[owner] = map[string]string{}
			}
			for field, gate := range found {
				if gates := strings.Fields(all[owner][field]); !slices.Contains(gates, gate) {
					all[owner][field] = strings.Join(append(gates, gate), " ")
				}
			}
		}
	}
	var lines []string
	for _, owner := range slices.Sorted(maps.Keys(all)) {
		line, err := json.Marshal(all[owner])
		if err != nil {
			log.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%q: %s", owner, line))
	}
	fmt.Printf("{\n%s\n}\n", strings.Join(lines, ",\n"))
}
