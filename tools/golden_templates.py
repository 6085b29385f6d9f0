#!/usr/bin/env python3
"""golden_templates.py - what Jinja2, set up as Hugging Face does, makes of tests/templates/*.jinja and of small
expressions; writes tests/templates/golden.json. Needs jinja2."""
import datetime, glob, json, os
from jinja2 import TemplateError, nodes
from jinja2.exceptions import UndefinedError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment, SecurityError

class Generation(Extension):
    """As in transformers: the body is a block of its own, printed unchanged."""
    tags = {"generation"}
    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_printed"), [], [], body).set_lineno(line)
    def _printed(self, caller): return caller()

def refuse(text): raise TemplateError(text)
def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

def environment(kind):
    env = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    env.filters["from_json"] = json.loads  # not Hugging Face's; DeepSeek's templates have it
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = lambda f: datetime.datetime.fromtimestamp(1700000000, datetime.timezone.utc).strftime(f)
    return env
env, mutable = environment(ImmutableSandboxedEnvironment), environment(SandboxedEnvironment)

user, answer = {"role": "user", "content": "Hello <b>\"you\"</b>\n\u00e9\u4e2d"}, {"role": "assistant", "content": " Hi! "}
system = {"role": "system", "content": "Be brief."}
tool = {"type": "function", "function": {"name": "weather", "description": "Tells the weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "description": "a city"}, "days": {"type": "integer", "enum": [1, 2]}},
    "required": ["city"]}}}
call = {"role": "assistant", "content": "", "tool_calls": [{"id": "abcdefghi", "type": "function", "function": {
    "name": "weather", "arguments": {"city": "Paris", "days": 2}}}]}
result = {"role": "tool", "content": "{\"sky\": \"blue\"}", "tool_call_id": "abcdefghi", "name": "weather"}
talks = [
    {"messages": [user]},
    {"messages": [user], "add_generation_prompt": True},
    {"messages": [system, user, answer, {"role": "user", "content": "And now?"}], "add_generation_prompt": True},
    {"messages": [system, user], "tools": [tool], "add_generation_prompt": True},
    {"messages": [user, call, result], "tools": [tool], "add_generation_prompt": True},
    {"messages": [user, {"role": "assistant", "content": "4", "reasoning_content": "2+2"}, user], "enable_thinking": False},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "add_generation_prompt": True},
    {"messages": [answer, answer]},
]
small = r"""
{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 1.0 }} {{ 1e20 }} {{ 0.1 + 0.2 }}
{{ [1, 'a', None, True, 1.5, {'k': (1,)}] }}
{{ "a'b" }} {{ ["a'b", 'c"d', 'e\nf'] }}
{{ 'abc'[1] }} {{ 'abc'[-1] }} {{ 'abcdef'[1:4] }} {{ 'abcdef'[::-1] }} {{ 'abcdef'[::2] }} {{ [1,2,3][1:] }} {{ [1,2,3][:-1] }}
{{ x is defined }} {{ x }} {{ x | default('d') }} {{ '' | default('d', true) }} {{ none is none }}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 'a' in 'cat' }} {{ 4 not in [1,2] }} {{ 'k' in {'k': 1} }} {{ not true or true }}
{{ 'a' ~ 1 ~ none }} {{ 'x' * 3 }} {{ [1] + [2] }}
{% for i in range(5) if i != 2 %}{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ i }},{% else %}none{% endfor %}
{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }} {% endfor %}
{% for i in [] %}x{% else %}empty{% endfor %}
{% for i in range(9) %}{% if i == 3 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}
{% set ns = namespace(n=0) %}{% for i in range(4) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}
{% set a = 1 %}{% for i in [1] %}{% set a = 2 %}{% endfor %}{{ a }}
{% set a, b = 1, 2 %}{{ a }}{{ b }}
{% set t %}in{{ 1 }}side{% endset %}{{ t | upper }}
{% macro m(a, b='x') %}[{{ a }}{{ b }}]{% endmacro %}{{ m(1) }}{{ m(1, b=2) }}{{ m(b=3, a=4) }}
{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}body{% endcall %}
{% filter upper %}abc{% endfilter %}
{{ ' a b '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'a,b,c'.split(',') }}|{{ ' a  b '.split() }}|{{ 'a,b,c'.split(',', 1) }}|{{ 'a,b,c'.rsplit(',', 1) }}
{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'c')) }} {{ 'aXbX'.replace('X', '-') }} {{ 'hello world'.title() }} {{ 'hELLO'.capitalize() }}
{{ [3,1,2] | sort }} {{ ['b','A'] | sort }} {{ [1,2,3] | sum }} {{ [1,2] | join('-') }} {{ 'abc' | length }} {{ [1,1,2] | unique | list }}
{{ [{'a':1},{'a':2}] | map(attribute='a') | list }} {{ [1,2,3] | select('odd') | list }} {{ [{'a':1},{'b':2}] | selectattr('a', 'defined') | list }} {{ ['a','b'] | map('upper') | join }}
{{ [{'a':1,'r':'x'},{'a':2,'r':'y'}] | selectattr('r', 'equalto', 'y') | map(attribute='a') | first }} {{ [1,2] | reject('equalto', 1) | list }}
{{ {'b': 1, 'a': [1, "x\"y", none, true, 1.5]} | tojson }} {{ {'a': {'b': []}} | tojson(indent=2) }} {{ 'é中' | tojson }}
{{ {'b': 2, 'a': 1} | dictsort }} {{ {'a': 1}.get('z', 5) }} {{ {'a': 1}.get('z') }} {{ {'a': 1} | length }} {{ {'a': 1}.a }} {{ {'items': 3}['items'] }}
{{ '3' | int }} {{ 'x' | int }} {{ '2.5' | float }} {{ 3.7 | int }} {{ -3 | abs }} {{ 2.567 | round(2) }} {{ 2 | string }}
{{ "line1\nline2" | indent(2) }} {{ 'a' if true else 'b' }} {{ 'a' if false }}|
{{ 1 if x is defined else 2 }} {{ 5 is divisibleby 5 }} {{ 3 is odd }} {{ 'a' is string }} {{ [] is iterable }} {{ {} is mapping }} {{ 1 is number }} {{ true is boolean }}
{{ x.y }}
{{ raise_exception('no') }}
{{ 1 + 'a' }}
{{ 'a' 'b' }}
  {% if true %}
  text
  {% endif %}
end
{%- if true -%}  tight  {%- endif -%}
{{ (1, 2) }} {{ (1,) }} {{ () }}
{{ strftime_now('%Y-%m-%d') }}
{{ 'a\\b\tc' }} {{ messages | length }}
{# comment #}x{# another
#}y
{{ [1,2,3] | last }} {{ [1,2,3] | first }} {{ [] | first }} {{ 'abc' | reverse }} {{ [1,2] | reverse | list }} {{ [4, 2] | min }} {{ [4, 2] | max }}
{{ '%s' }} {{ '<' | e }} {{ 'a-b' | replace('-', '+') }} {{ 'A' | lower }} {{ ' x ' | trim }} {{ 'ab' | list }}
{% generation %}g{% endgeneration %}{{ cycle }}
{% for a in ['x','y','z'] %}{{ loop.cycle('1','2') }}{{ loop.previtem }}{{ loop.nextitem }} {% endfor %}
{{ 10 | tojson }} {{ "a/b" | tojson }} {{ [] | tojson }} {{ {} | tojson }} {{ none | tojson }}
""".strip("\n")
# Tables: every method, slice and order over values at the ends of what they take.
texts = ["''", "'a'", "' a b  c '", "'aXbXXc'", "'xxaxx'", "'a\\nb\\n\\nc\\n'", "'abab'", "'X'"]
methods = {
    "split": ["", "none, 0", "none, 1", "none, 2", "none, 9", "'X'", "'X', 0", "'X', 1", "'X', 2", "'XX'", "' '"],
    "rsplit": ["", "none, 0", "none, 1", "none, 2", "none, 9", "'X'", "'X', 0", "'X', 1", "'X', 2", "'XX'", "' '"],
    "splitlines": [""], "upper": [""], "lower": [""], "title": [""], "capitalize": [""],
    "strip": ["", "'x'", "'a '", "''"], "lstrip": ["", "'x'", "'a '"], "rstrip": ["", "'x'", "' c'"],
    "startswith": ["''", "'a'", "('b', 'x')", "'abababab'"], "endswith": ["''", "'b'", "('c', 'xx')", "'abababab'"],
    "replace": ["'X', '-'", "'X', '-', 1", "'X', '-', 0", "'ab', ''", "'', '.'", "'', '.', 1"],
    "find": ["'b'", "''", "'zz'", "'XX'"], "count": ["'X'", "''", "'ab'", "'zz'"], "join": ["['1', '2']", "[]", "['1']"],
}
ends = ["", "0", "1", "2", "4", "9", "-1", "-2", "-9"]
people = "[{'n': 1, 't': 'a'}, {'n': 0, 't': 'b'}, {'n': 1, 't': 'c'}, {'n': 0, 't': 'd'}]"
tables = ["|".join("{{ %s.%s(%s) }}" % (t, m, a) for t in texts) for m, rows in methods.items() for a in rows]
tables += ["|".join("{{ 'abcd'[%s:%s%s] }}{{ [1, 2, 3, 4][%s:%s%s] }}" % (a, b, c, a, b, c) for b in ends)
           for a in ends for c in ("", ":2", ":-1", ":-2")]
tables += ["|".join("{{ %s %s %s }}" % (a, op, b) for a in ("7", "-7", "0", "2.5", "true") for b in ("2", "-2", "3", "0.5"))
           for op in ("+", "-", "*", "/", "//", "%", "<", ">=", "==", "and", "or")]
tables += ["{{ %s | sort(attribute='n', reverse=%s) }}{{ %s | sort(attribute='n,t', reverse=%s) }}" % (people, r, people, r)
           for r in ("true", "false")]
tables += ["{{ ['b', 'A', 'a', 'B'] | sort(case_sensitive=%s, reverse=%s) }}{{ {'b': 1, 'A': 2, 'a': 1} | dictsort(%s, '%s', %s) }}"
           % (c, r, c, by, r) for c in ("true", "false") for r in ("true", "false") for by in ("key", "value")]
tables += ["{{ [[1, 2], [3, 4]] | map(attribute='1') | list }}{{ [{'a': {'b': [5]}}] | map(attribute='a.b.0') | list }}"]
tables += ["{{ [1.5, 2.5, -1.5, 2.675, 1234.5, 0.1, 1e300, 2.5e-7] | map('round', %d) | list }}" % n for n in (0, 1, 2, 20)]
tables += [a + "{%" + b + " if true " + c + "%}" + d + "x" + a + "{%" + b + " endif " + c + "%}" + d + "y"
           for a in ("", "  ", "\n ", "z ") for b in ("", "-", "+") for c in ("", "-", "+") for d in ("", "\n", " \n")]
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
os.chdir(here)
lines, cases = small.split("\n"), []
joined, i = [], 0
while i < len(lines):
    if lines[i].startswith("  {% if true"): joined.append("\n".join(lines[i:i + 4])); i += 4
    elif lines[i].startswith("{# comment"): joined.append("\n".join(lines[i:i + 2])); i += 2
    else: joined.append(lines[i]); i += 1
sources = [(t, t, [talks[0]]) for t in joined + tables]
# One template a line; the sign stands for a newline.
sources += [(t, t, [talks[0]]) for line in open("tests/templates/cases.txt").read().split("\n")[:-1]
            for t in [line.replace("\u23ce", "\n")]]
# Letters of every case but those newer than Unicode 13, which utf8proc may not know: those of Unicode 14 in Python's.
NEWER = [0x2C2F, 0x2C5F, 0xA7C0, 0xA7C1, *range(0xA7D0, 0xA7DA), *range(0x10570, 0x105BD)]
cased = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and c not in NEWER and (
    chr(c).lower() != chr(c) or chr(c).upper() != chr(c) or chr(c).title() != chr(c)))
every_case = {"messages": [{"role": "user", "content": cased}]}
sources += [(t, t, [every_case]) for t in (
    "{{ messages[0].content | upper }}", "{{ messages[0].content | lower }}",
    "{% for c in messages[0].content %}{{ c.title() }}{{ c | capitalize }}{{ c.isupper() | int }}{{ c.islower() | int }}{% endfor %}")]
sources += [(p, open(p, newline="").read(), talks) for p in sorted(glob.glob("tests/templates/*.jinja"))]

def render(env, text, data):
    """What comes out, and the words of a refusal that must come out, too."""
    try: return env.from_string(text).render(**json.loads(json.dumps(data))), None
    except SecurityError as e: return None, str(e).rstrip(".")
    except Exception: return None, None

for name, text, inputs in sources:
    for data in inputs:
        data = dict({"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": False}, **data)
        want, error = render(env, text, data)
        case = {"template": name, "input": data, "want": want}
        if error: case["error"] = error
        cases.append(case)
        if error and name.endswith(".jinja"): # some templates that models ship need more than Hugging Face allows
            cases.append({"template": name, "input": data, "may_change": True, "want": render(mutable, text, data)[0]})

# Messages that are not UTF-8: Python carries stray bytes as lone surrogates. Both sides are written byte for byte.
stray = [b"caf\xe9", b"\xff", b" \xc3\x28 \x80\xe2\x82A\xf0\x9f\x98 ", b"a\xed\xa0\x80b,\xc0\x80,\xf4\x90\x80\x80", b"\xa9\xc3\xa9\xbf\xc3\xa9\xa9 \xe9\n\xfe"]
for t in ("{{ m }}", "{{ m | length }}", "{{ m | upper }}{{ m | lower }}{{ m.title() }}{{ m | title }}{{ m | capitalize }}", "{{ m[::-1] }}",
          "{{ m | reverse }}", "{{ m[1:-1] }}{{ m[0] }}{{ m[-1] }}", "{{ m | list | join('|') }}", "{{ m | trim }}|{{ m.strip('\u00e9') }}",
          "{{ m.split() | join('/') }}", "{{ m.split(',') | join('/') }}", "{{ m.split('\u00e9') | join('/') }}",
          "{{ m | replace('\u00e9', 'E') }}{{ m.replace('', '-') }}", "{{ m | tojson }}", "{{ [m] | map('trim') | join }}{{ {'a': m}.a }}{{ {m: 1}[m] }}",
          "{{ m | indent(2) }}{{ m | center(30) }}{{ m | truncate(3, true, '', 0) }}{{ m | wordwrap(3) }}", "{{ m | wordcount }} {{ m.find('\u00e9') }} {{ m.count('\u00e9') }}",
          "{{ m.splitlines() | join('/') }}{{ '%s|%5s|%.2s' % (m, m, m) }}{{ m | e }}{{ m ~ m }}{{ m + 'x' }}{{ m * 2 }}",
          "{{ m.startswith('\u00e9') }}{{ m.isalpha() }}{{ m == m }}{{ '\u00e9' in m }}{{ m in m ~ 'x' }}", "{{ m.rsplit('\u00e9', 1) | join('/') }}{{ m.partition('\u00e9') | join('/') }}{{ m | sort | length }}"):
    source = "{% set m = messages[0].content %}" + t
    for b in stray:
        m = [{"role": "user", "content": b.decode("utf-8", "surrogateescape")}]
        want = env.from_string(source).render(messages=m).encode("utf-8", "surrogateescape")
        cases.append({"template": source, "bytes": b.decode("latin-1"), "want": want.decode("latin-1")})
json.dump(cases, open("tests/templates/golden.json", "w"), ensure_ascii=False, indent=0)
print(len(cases), "cases,", sum(c["want"] is None for c in cases), "refusals")
