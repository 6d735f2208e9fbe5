package main

import (
	"fmt"
	"go/ast"
	"reflect"
	"strconv"
	"strings"

	"topospread.dev/oracle/releases"
)

const internalTypes = "k8s.io/kubernetes/pkg/scheduler/apis/config"

// internal are the structs that the plugins' arguments are to kube-scheduler itself, as Go writes them: their fields in
// order, each with its type ("*", "[]" and "map" as in Go), and " omitempty" where it is left out when it is empty.
func internal() map[string][]string {
	r := &reader{releases.Newest, map[string]map[string]declared{}, nil}
	found := map[string][]string{}
	for name := range r.types(internalTypes) {
		if strings.HasSuffix(name, "Args") {
			r.written(internalTypes, name, found)
		}
	}
	return found
}

// written adds a type's struct, and those of its fields, and says what its values are written as.
func (r *reader) written(path, name string, into map[string][]string) string {
	if leaf, ok := leaves[path+"."+name]; ok {
		return leaf
	}
	type_ := r.types(path)[name]
	literal, ok := type_.spec.Type.(*ast.StructType)
	if !ok {
		return r.form(type_.spec.Type, type_, into)
	}
	if _, ok := into[name]; ok {
		return name
	}
	into[name] = []string{}
	var fields []string
	for _, field := range literal.Fields.List {
		if len(field.Names) == 0 { // its kind, which is empty, or a struct that is written in its place
			if within := r.form(field.Type, type_, into); within != "TypeMeta" {
				fields = append(fields, into[within]...)
			}
			continue
		}
		shown, options := field.Names[0].Name, ""
		if field.Tag != nil {
			text, _ := strconv.Unquote(field.Tag.Value)
			shown, options, _ = strings.Cut(reflect.StructTag(text).Get("json"), ",")
		}
		text := fmt.Sprintf("%s %s", shown, r.form(field.Type, type_, into))
		if strings.Contains(options, "omitempty") {
			text += " omitempty"
		}
		fields = append(fields, text)
	}
	into[name] = fields
	return name
}

func (r *reader) form(expression ast.Expr, in declared, into map[string][]string) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return "*" + r.form(e.X, in, into)
	case *ast.ArrayType:
		return "[]" + r.form(e.Elt, in, into)
	case *ast.MapType:
		return "map[]" + r.form(e.Value, in, into)
	case *ast.SelectorExpr:
		return r.written(in.imports[e.X.(*ast.Ident).Name], e.Sel.Name, into)
	}
	name := expression.(*ast.Ident).Name
	if _, ok := r.types(in.path)[name]; ok {
		return r.written(in.path, name, into)
	}
	return name
}
