"""Reads a program on standard input and exits with 1 when its syntax is wrong: grammars.py kotlin|swift|ruby"""
import importlib
import sys

from tree_sitter import Language, Parser

module = importlib.import_module(f"tree_sitter_{sys.argv[1]}")
tree = Parser(Language(module.language())).parse(sys.stdin.buffer.read())
sys.exit(1 if tree.root_node.has_error else 0)
