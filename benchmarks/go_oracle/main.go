// Command go_oracle prints the call graph that golang.org/x/tools computes for some packages, one call a line:
// caller file, caller line, callee file, callee line. Calls in a function literal count as those of the function
// around it; calls of a function literal are left out, unless it is the value of a package-level variable.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"go/token"
	"os"
	"sort"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/static"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

func main() {
	method := flag.String("method", "vta", "static, cha or vta")
	root := flag.String("root", "", "folder whose functions are printed")
	flag.Parse()
	config := &packages.Config{Mode: packages.LoadAllSyntax}
	loaded, err := packages.Load(config, flag.Args()...)
	if err != nil || packages.PrintErrors(loaded) > 0 {
		fmt.Fprintln(os.Stderr, "cannot load", flag.Args(), err)
		os.Exit(1)
	}
	program, _ := ssautil.AllPackages(loaded, ssa.InstantiateGenerics)
	program.Build()
	var graph *callgraph.Graph
	switch *method {
	case "static":
		graph = static.CallGraph(program)
	case "cha":
		graph = cha.CallGraph(program)
	case "vta":
		graph = vta.CallGraph(ssautil.AllFunctions(program), cha.CallGraph(program))
	default:
		fmt.Fprintln(os.Stderr, "unknown method", *method)
		os.Exit(2)
	}
	write(graph, program.Fset, *root)
}

// write prints the calls between functions below root, each once and sorted.
func write(graph *callgraph.Graph, files *token.FileSet, root string) {
	seen := map[string]bool{}
	for _, node := range graph.Nodes {
		for _, edge := range node.Out {
			from := place(edge.Caller.Func, edge.Pos(), files, root)
			if from == "" {
				continue
			}
			for _, callee := range behind(edge.Callee, map[*callgraph.Node]bool{}) {
				if around := callee.Func.Parent(); around != nil && around.Syntax() != nil {
					continue
				}
				if to := place(callee.Func, token.NoPos, files, root); to != "" {
					seen[from+"\t"+to] = true
				}
			}
		}
	}
	lines := make([]string, 0, len(seen))
	for line := range seen {
		lines = append(lines, line)
	}
	sort.Strings(lines)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
}

// behind follows wrappers that the compiler makes (promoted methods, bound methods) to what they call.
func behind(node *callgraph.Node, seen map[*callgraph.Node]bool) []*callgraph.Node {
	if node.Func.Syntax() != nil || seen[node] {
		return []*callgraph.Node{node}
	}
	seen[node] = true
	var found []*callgraph.Node
	for _, edge := range node.Out {
		found = append(found, behind(edge.Callee, seen)...)
	}
	return found
}

// place is the file and line of the declaration around f; of package-level code, those of the call.
func place(f *ssa.Function, call token.Pos, files *token.FileSet, root string) string {
	for f.Parent() != nil && f.Parent().Syntax() != nil {
		f = f.Parent()
	}
	at := f.Pos()
	if f.Syntax() == nil {
		at = call
	}
	position := files.Position(at)
	if !at.IsValid() || !strings.HasPrefix(position.Filename, root) {
		return ""
	}
	return fmt.Sprintf("%s\t%d", strings.TrimPrefix(position.Filename[len(root):], "/"), position.Line)
}
