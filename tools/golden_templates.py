#!/usr/bin/env python3
"""golden_templates.py - what Jinja2, set up as Hugging Face does, makes of tests/templates/*.jinja and of small
expressions; writes tests/templates/golden.json. Needs jinja2."""
import datetime, glob, json, os
from jinja2 import TemplateError
from jinja2.exceptions import UndefinedError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError

class Generation(Extension):
    tags = {"generation"}
    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)

def refuse(text): raise TemplateError(text)
def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
env.filters["tojson"] = tojson
env.globals["raise_exception"] = refuse
env.globals["strftime_now"] = lambda f: datetime.datetime.fromtimestamp(1700000000, datetime.timezone.utc).strftime(f)

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
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
os.chdir(here)
lines, cases = small.split("\n"), []
joined, i = [], 0
while i < len(lines):
    if lines[i].startswith("  {% if true"): joined.append("\n".join(lines[i:i + 4])); i += 4
    elif lines[i].startswith("{# comment"): joined.append("\n".join(lines[i:i + 2])); i += 2
    else: joined.append(lines[i]); i += 1
sources = [(t, t, [talks[0]]) for t in joined]
sources += [(p, open(p, newline="").read(), talks) for p in sorted(glob.glob("tests/templates/*.jinja"))]
for name, text, inputs in sources:
    for data in inputs:
        data = dict({"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": False}, **data)
        try: want = env.from_string(text).render(**json.loads(json.dumps(data)))
        except SecurityError: continue  # lists may be changed in our engine, as in the other ones that run these templates
        except Exception: want = None
        cases.append({"template": name, "input": data, "want": want})
json.dump(cases, open("tests/templates/golden.json", "w"), ensure_ascii=False, indent=0)
print(len(cases), "cases,", sum(c["want"] is None for c in cases), "refusals")
