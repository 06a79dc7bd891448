"""A tree of given texts, for the tests of the lint."""

import lint
from tree import Tree


class TreeForTest(Tree):
    """`texts` is {path: text}; its compiler answers what it is told."""

    def __init__(self, texts=None, error=None):
        super().__init__("/nowhere")
        self._texts = texts or {}
        self._error = error

    def list_files(self):
        return sorted(self._texts)

    def read(self, path):
        return self._texts.get(path)

    def compile_error(self, _):
        return self._error


def findings(path, text, texts=None, error=None):
    """Of one file among others, as (line, rule id, text)."""
    tree = TreeForTest({**(texts or {}), path: text}, error)
    return lint.lint(tree.source(path), tree)


def rules_found(path, text, texts=None):
    return [rule for _, rule, _ in findings(path, text, texts)]


def tree_findings(texts, rule_id):
    """Of one tree rule, as (path, line, text)."""
    found = lint.lint_tree(TreeForTest(texts))
    return [(path, line, text) for path, line, rule, text in found if rule == rule_id]
