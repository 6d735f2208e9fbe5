package main

import (
	"go/ast"
	"go/token"
	"log"
	"slices"
	"strings"
)

// gated plays a file's functions on the sets that it has: what a gate would add is there with " if " and the gate.
type gated struct {
	*source
	file *ast.File
	sets []set
}

func (g *gated) call(name, gate string) {
	for _, decl := range g.file.Decls {
		if function, ok := decl.(*ast.FuncDecl); ok && function.Name.Name == name {
			g.play(function.Body.List, gate, map[string]plugin{})
		}
	}
}

func (g *gated) play(block []ast.Stmt, gate string, known map[string]plugin) {
	for i, statement := range block {
		switch each := statement.(type) {
		case *ast.IfStmt:
			g.play(each.Body.List, gateOf(each.Cond), known)
		case *ast.ExprStmt:
			call := each.X.(*ast.CallExpr)
			if name, ok := call.Fun.(*ast.Ident); ok {
				g.call(name.Name, gate)
			} // else it logs
		case *ast.RangeStmt: // looks for a plugin, and puts another before it
			g.insert(each, gate)
		case *ast.AssignStmt:
			if found, ok := each.Rhs[0].(*ast.CallExpr); ok && named(found.Fun) == "slices.IndexFunc" {
				g.insert(&ast.BlockStmt{List: block[i:]}, gate)
				return
			}
			g.assign(each, gate, known)
		case *ast.ReturnStmt:
		default:
			log.Fatalf("%T among feature gates", statement)
		}
	}
}

// gateOf is the gate that a condition asks, with "!" where it has to be off.
func gateOf(condition ast.Expr) string {
	if not, ok := condition.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		return "!" + gateOf(not.X)
	}
	asked := condition.(*ast.CallExpr)
	if !strings.HasSuffix(named(asked.Fun), ".Enabled") {
		log.Fatalf("%s is no gate", named(asked.Fun))
	}
	return asked.Args[0].(*ast.SelectorExpr).Sel.Name
}

// named is the text of a name with its packages or objects.
func named(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return named(e.X) + "." + e.Sel.Name
	}
	return ""
}

// assign remembers a plugin, or appends one to a set.
func (g *gated) assign(each *ast.AssignStmt, gate string, known map[string]plugin) {
	to := named(each.Lhs[0])
	if literal, ok := each.Rhs[0].(*ast.CompositeLit); ok {
		known[to] = g.plugin(literal)
		return
	}
	if _, ok := each.Rhs[0].(*ast.UnaryExpr); ok {
		return // the sets as they are read already
	}
	if variable, ok := strings.CutSuffix(to, ".Weight"); ok {
		known[variable] = plugin{known[variable].name, g.text(each.Rhs[0], "")}
		return
	}
	appended, ok := each.Rhs[0].(*ast.CallExpr)
	if !ok || named(appended.Fun) != "append" || named(appended.Args[0]) != to {
		log.Fatalf("%s is assigned in another way than was known", to)
	}
	into := g.set(to)
	for _, added := range appended.Args[1:] {
		one := known[named(added)]
		if literal, ok := added.(*ast.CompositeLit); ok {
			one = g.plugin(literal)
		}
		into.enabled = append(into.enabled, one.String()+" if "+gate)
	}
}

// set is the one that config.Point.Enabled means, a new one where the defaults have none.
func (g *gated) set(name string) *set {
	point := inJSON(strings.Split(name, ".")[1])
	at := slices.IndexFunc(g.sets, func(each set) bool { return each.point == point })
	if at < 0 {
		at = len(g.sets)
		g.sets = append(g.sets, set{point: point})
	}
	return &g.sets[at]
}

// insert puts the one plugin that the statements make before the one whose name they compare.
func (g *gated) insert(statements ast.Node, gate string) {
	var before, one string
	var into *set
	ast.Inspect(statements, func(node ast.Node) bool {
		switch each := node.(type) {
		case *ast.BinaryExpr:
			if each.Op == token.EQL && before == "" {
				before = g.text(each.Y, "")
			}
		case *ast.AssignStmt:
			if strings.HasPrefix(named(each.Lhs[0]), "config.") {
				into = g.set(named(each.Lhs[0]))
			}
		case *ast.CompositeLit:
			if kind, ok := each.Type.(*ast.SelectorExpr); ok && kind.Sel.Name == "Plugin" {
				one = g.plugin(each).String()
			}
		}
		return true
	})
	at := slices.IndexFunc(into.enabled, func(text string) bool { return strings.Split(text, ":")[0] == before })
	if at < 0 || one == "" {
		log.Fatalf("%q has no place before %q", one, before)
	}
	into.enabled = slices.Insert(into.enabled, at, one+" if "+gate)
}
