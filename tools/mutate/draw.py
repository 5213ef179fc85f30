# SPDX-License-Identifier: Apache-2.0
"""Mutants of a C file: where they can be made, and what stands there then.

The file is read as tokens, not parsed; a mutant that does not compile is thrown away later. Only bodies of functions are
mutated, and a mutant changes no number of a line.
"""
import collections
import re

Mutant = collections.namedtuple("Mutant", "file line kind start end new function")
Token = collections.namedtuple("Token", "text start end")

TOKENS = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|\s+|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
      |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      |(?P<word>[A-Za-z_]\w*)
      |(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
      |(?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.X | re.S | re.M,
)
INSTEAD = {
    "<": ("relation", "<="), "<=": ("relation", "<"), ">": ("relation", ">="), ">=": ("relation", ">"),
    "==": ("relation", "!="), "!=": ("relation", "=="),
    "&&": ("logic", "||"), "||": ("logic", "&&"),
    "+": ("arithmetic", "-"), "-": ("arithmetic", "+"), "*": ("arithmetic", "/"), "/": ("arithmetic", "*"),
    "%": ("arithmetic", "*"), "+=": ("arithmetic", "-="), "-=": ("arithmetic", "+="), "*=": ("arithmetic", "/="),
    "/=": ("arithmetic", "*="),
}  # fmt: skip
ASSIGN = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "<<=", ">>=", "++", "--", "->", ".", "[", "("}
CONTROL = {"if", "while", "for", "switch", "return", "sizeof", "do", "else", "goto", "case", "default"}
# Only a sanitizer sees that these are not called.
FREES = re.compile(r"free|munmap|va_end|decref|destroy|unmap|(^|f|_)close(dir)?$")
# Nor that memory is a little more or less than is used.
ALLOCATE = {"malloc", "calloc", "realloc", "NNV_NEW"}
# What is given in any order.
SYMMETRIC = {"calloc", "fmax", "fmin", "memcmp", "strcmp"}
# Where memory ends is the business of make inject.
MEMORY = re.compile(r"nnv_no_memory|NNV_NO_MEMORY|NNV_OUT_OF_MEMORY")


class Source:
    """The functions of a file and its mutants."""

    def __init__(self, name, text):
        self.name, self.text, self.tokens, self.mutants = name, text, [], []
        for match in TOKENS.finditer(text):
            if match.lastgroup != "skip":
                self.tokens.append(Token(match.group(), match.start(), match.end()))
        self.lines = text.split("\n")
        self.pair = self.brackets()
        self.bodies = list(self.functions())
        for number, (first, last, returns) in enumerate(self.bodies):
            for at in range(first + 1, last):
                self.around(at, number, returns)

    def brackets(self):
        pair, open_ones = {}, []
        for at, token in enumerate(self.tokens):
            if token.text in "([{":
                open_ones.append(at)
            elif token.text in ")]}" and open_ones:
                first = open_ones.pop()
                pair[first], pair[at] = at, first
        return pair

    def functions(self):
        """Yields the braces of each function and the words before its name."""
        at, begin = 0, 0
        while at < len(self.tokens):
            text = self.tokens[at].text
            if text == "{" and at in self.pair:
                if at and self.tokens[at - 1].text == ")":
                    words = [t.text for t in self.tokens[begin:at]]
                    yield at, self.pair[at], words[: max(words.index("(") - 1, 0)]
                at = begin = self.pair[at]
            elif text == ";":
                begin = at + 1
            elif text in "([" and at in self.pair:
                at = self.pair[at]
            at += 1
            if at and self.tokens[at - 1].text == "}":
                begin = at

    def add(self, kind, first, last, new, function):
        start, end = self.tokens[first].start, self.tokens[last].end
        new += "\n" * (self.text[start:end].count("\n") - new.count("\n"))
        line = self.text.count("\n", 0, start) + 1
        if MEMORY.search(self.lines[line - 1]):
            return
        self.mutants.append(Mutant(self.name, line, kind, start, end, new, function))

    def spaced(self, at):
        """Binary operators have a space on both sides; pointers, casts and signs do not."""
        token = self.tokens[at]
        return self.text[token.start - 1].isspace() and self.text[token.end : token.end + 1].isspace()

    def between(self, first, last):
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def around(self, at, function, returns):
        token, before, after = self.tokens[at], self.tokens[at - 1].text, self.tokens[at + 1].text
        text = token.text
        if text in INSTEAD and self.spaced(at):
            kind, new = INSTEAD[text]
            self.add(kind, at, at, new, function)
        elif text[0].isdigit():
            self.number(at, function)
        elif text == "!":
            self.add("condition", at, at, " ", function)
        elif text in ("if", "while") and after == "(":
            end = self.pair[at + 1]
            self.add("condition", at + 1, end, f"(!{self.between(at + 1, end)})", function)
        elif text == "return" and after != ";":
            self.returned(at, function, returns)
        elif text == "(" and re.match(r"[a-z_]\w*$", before) and before not in CONTROL | SYMMETRIC:
            self.arguments(at, function)
        if before in (";", "{", "}", ")", "else") and re.match(r"[A-Za-z_*]", text):
            self.statement(at, function)

    def number(self, at, function):
        text = self.tokens[at].text
        if match := re.fullmatch(r"([0-9]+)([uUlL]*)", text):
            if int(match[1]) > 8 and self.tokens[at - 1].text == "[":  # the size of an array
                return
            if self.allocates(at):
                return
            self.add("constant", at, at, f"{int(match[1]) + 1}{match[2]}", function)
            if int(match[1]):
                self.add("constant", at, at, f"{int(match[1]) - 1}{match[2]}", function)
        elif re.fullmatch(r"[0-9]*\.[0-9]*(?:e[-+]?[0-9]+)?f?", text) and float(text.rstrip("f")):
            self.add("constant", at, at, f"({text} * 2)", function)

    def allocates(self, at):
        """Within the parentheses of a call that allocates?"""
        while at > 0 and self.tokens[at].text not in ";{}":
            if self.tokens[at].text == "(" and self.tokens[at - 1].text in ALLOCATE:
                return True
            at = self.pair[at] if self.tokens[at].text in ")]" and at in self.pair else at
            at -= 1
        return False

    def returned(self, at, function, returns):
        end = at + 1
        while self.tokens[end].text != ";":
            end = self.pair.get(end, end) + 1 if self.tokens[end].text in "([{" else end + 1
        value = self.between(at + 1, end - 1)
        if "nnv_status" in returns and "*" not in returns:
            new = "NNV_INVALID" if value == "NNV_OK" else f"(void)({value}), NNV_OK"
        elif "bool" in returns and "*" not in returns:
            new = {"true": "false", "false": "true"}.get(value, f"!({value})")
        elif "*" in returns:
            new = "NULL" if value != "NULL" else None
        else:
            new = f"({value}) + 1"
        if new and not value.startswith("{"):
            self.add("return", at + 1, end - 1, new, function)

    def arguments(self, at, function):
        end, cuts = self.pair.get(at, at), [at]
        inside = at + 1
        while inside < end:
            if self.tokens[inside].text == ",":
                cuts.append(inside)
            inside = self.pair.get(inside, inside) + 1 if self.tokens[inside].text in "([{" else inside + 1
        cuts.append(end)
        for first, middle, last in zip(cuts, cuts[1:], cuts[2:]):
            a, b = self.between(first + 1, middle - 1), self.between(middle + 1, last - 1)
            if a != b and '"' not in a + b and "\n" not in a + b:
                self.add("arguments", first + 1, last - 1, f"{b}, {a}", function)

    def statement(self, at, function):
        text, after = self.tokens[at].text, self.tokens[at + 1].text
        if text in CONTROL or (self.tokens[at - 1].text == ")" and not self.controls(at - 1)):
            return
        if text in ("break", "continue") and after == ";":
            return self.add("statement", at, at, "", function)
        if after not in ASSIGN and text != "*" or FREES.search(text) and after == "(":
            return
        end = at
        while self.tokens[end].text not in ";{}":
            end = self.pair.get(end, end) + 1 if self.tokens[end].text in "([" else end + 1
        if self.tokens[end].text == ";" and not self.in_header(at):
            self.add("statement", at, end - 1, "", function)

    def controls(self, at):
        first = self.pair.get(at)
        return first and self.tokens[first - 1].text in ("if", "while", "for")

    def in_header(self, at):
        """In the parentheses of a for?"""
        while at >= 0 and self.tokens[at].text not in "{}":
            if self.tokens[at].text == "(" and self.pair.get(at, 0) > at:
                return True
            at = self.pair[at] if self.tokens[at].text in ")]" and at in self.pair else at
            at -= 1
        return False

    def mutated(self, mutant):
        return self.text[: mutant.start] + mutant.new + self.text[mutant.end :]

    def hooked(self, hook):
        """Text in which each function begins by hook(its number)."""
        out, at = [], 0
        for number, (first, _, _) in enumerate(self.bodies):
            end = self.tokens[first].end
            out += [self.text[at:end], hook(number)]
            at = end
        return "".join(out) + self.text[at:]


def draw(sources, rng):
    """Yields mutants for ever: a file by its mutants, a kind in it, one of that kind. None comes twice."""
    left = {source.name: collections.defaultdict(list) for source in sources}
    for source in sources:
        for mutant in source.mutants:
            left[source.name][mutant.kind].append(mutant)
    weights = {name: len(source.mutants) for name, source in zip(left, sources)}
    while any(weights.values()):
        names = list(weights)
        name = rng.choices(names, [weights[n] for n in names])[0]
        kinds = left[name]
        kind = rng.choice(sorted(kinds))
        yield kinds[kind].pop(rng.randrange(len(kinds[kind])))
        weights[name] -= 1
        if not kinds[kind]:
            del kinds[kind]
