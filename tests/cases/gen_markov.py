#!/usr/bin/env python3
# gen_markov.py - writes a tiny llama-type GGUF whose next token depends only on the last token: a scripted model.
# Attention output and FFN output are zero; embeddings are one-hot; output.weight is the transition table. A prompt that
# ends in [[NAME]] makes it say what scenario NAME lists.
# usage: gen_markov.py OUT.gguf [--nan | --inf | --talk]   --talk: long context, "assistant:" is answered by the loop, roles must alternate
# Prints trigger ids and the text each one must produce
import struct, sys, math, array
p = struct.pack; NE = 512; HI = 50.0; AMP = 1000.0
tok = [(b'<unk>', 2, 0.0), (b'<s>', 3, 0.0), (b'</s>', 3, 0.0)] + [(b'<0x%02X>' % i, 6, 0.0) for i in range(256)]
EOS = 2; nxt = {}
def piece(t, typ=1):
    tok.append((t.replace(' ', '\u2581').encode(), typ, -float(len(tok)))); return len(tok) - 1
def chain(first, seq, end=EOS):
    cur = first
    for s in seq:
        i = (3 + s) if isinstance(s, int) else piece(s)
        assert cur not in nxt, 'state reused'; nxt[cur] = {i: HI}; cur = i
    if cur not in nxt and end is not None: nxt[cur] = {end: HI}
trig = {}
def scenario(name, seq, end=EOS):
    t = piece('[[%s]]' % name, 4); chain(t, seq, end)
    trig[name] = (t, b''.join(bytes([s]) if isinstance(s, int) else s.encode() for s in seq)); return t
scenario('stop-span', ['O', ' P', ' Q', ' R', ' S'])
scenario('stop-near-miss', ['Al', 'ice', '!', ' bye'])
scenario('stop-tail', ['Mars', '?', '\n', 'Next'])
scenario('emoji', [0xF0, 0x9F, 0x98, 0x80, ' done'])
scenario('emoji-cut', ['cut', 0xE2, 0x82])            # ends inside a 3-byte character
scenario('bad-bytes', ['bad', 0xC0, 0xFF, ' ok'])      # never valid UTF-8
scenario('surrogate-utf8', ['sur', 0xED, 0xA0, 0x81, ' end'])
t = piece('[[loop]]', 4); x = piece(' x'); nxt[t] = {x: HI}; nxt[x] = {x: HI}
if '--talk' in sys.argv: nxt[3 + ord(':')] = {x: HI}
trig['loop'] = (t, b' x x x ... until a limit')
# Wherever the answer could end it does, in this order; only where no end is allowed it goes on.
t = piece('[[ends]]', 4); x, y = piece('E'), piece(' y'); nxt[t] = {x: HI}; nxt[x] = {y: HI - 3}; nxt[y] = {y: HI - 3}
for i, end in enumerate([EOS, piece('<|im_end|>', 3), piece('<|eot_id|>', 3)]): nxt[x][end] = nxt[y][end] = HI - i
trig['ends'] = (t, b'E, then y without end where every end token is kept out')
t = piece('[[eos-first]]', 4); nxt[t] = {EOS: HI}; trig['eos-first'] = (t, b'')
scenario('tool', ['{"name":"', 'f', '","arguments":{"q":"', 'caf', '\\', 'u00', 'e9 ', '\\ud83d', '\\ude', '00', '"}}'])
t = piece('[[dist]]', 4); d = {}
for n, pr in (('A', .5), ('B', .25), ('C', .125), ('D', .125)): i = piece(n); d[i] = HI + math.log(pr); nxt[i] = {EOS: HI}
nxt[t] = d; trig['dist'] = (t, b'A .5  B .25  C .125  D .125, then end')
t = piece('[[tie]]', 4); a, b = piece('T1'), piece('T2'); nxt[t] = {a: HI, b: HI}; nxt[a] = {EOS: HI}; nxt[b] = {EOS: HI}; trig['tie'] = (t, b'T1 or T2, each .5; greedy must be stable')
chain(3 + 0xFE, ['stray'])   # a message that ends in this byte, which is never part of UTF-8
# template markup so that chat requests can be pointed at a scenario by the last user text
NV = len(tok); assert NV <= NE
def s(b): b = b if isinstance(b, bytes) else b.encode(); return p('<Q', len(b)) + b
def kv(k, t, raw): return s(k) + p('<I', t) + raw
U32, F32, BOOL, STR, ARR, I32 = 4, 6, 7, 8, 9, 5
def arr(k, et, raw): return kv(k, ARR, p('<IQ', et, NV) + raw)
TM = "{% for m in messages %}{{ m.content }}{% endfor %}"
if '--talk' in sys.argv: TM = TM.replace('%}{{', "%}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{{")
K = [kv('general.architecture', STR, s('llama')), kv('general.name', STR, s('markov test')),
     *[kv('llama.' + k, U32, p('<I', v)) for k, v in (('block_count', 1), ('context_length', 200000 if '--talk' in sys.argv else 256), ('embedding_length', NE), ('feed_forward_length', 64), ('attention.head_count', 8), ('attention.head_count_kv', 1), ('rope.dimension_count', 64), ('vocab_size', NV))],
     kv('llama.attention.layer_norm_rms_epsilon', F32, p('<f', 1e-6)), kv('tokenizer.ggml.model', STR, s('llama')),
     arr('tokenizer.ggml.tokens', STR, b''.join(s(t[0]) for t in tok)), arr('tokenizer.ggml.scores', F32, b''.join(p('<f', t[2]) for t in tok)), arr('tokenizer.ggml.token_type', I32, b''.join(p('<i', t[1]) for t in tok)),
     *[kv('tokenizer.ggml.' + k, U32, p('<I', v)) for k, v in (('bos_token_id', 1), ('eos_token_id', 2), ('unknown_token_id', 0))],
     kv('tokenizer.ggml.add_bos_token', BOOL, b'\1'), kv('tokenizer.ggml.add_space_prefix', BOOL, b'\0'), kv('tokenizer.chat_template', STR, s(TM))]
emb = array.array('f', bytes(4 * NE * NV)); out = array.array('f', bytes(4 * NE * NV)); sc = math.sqrt(NE)
for i in range(NV):
    emb[i * NE + i] = AMP
    for j, l in nxt.get(i, {EOS: HI}).items(): out[j * NE + i] = l / sc
if '--nan' in sys.argv: out[(NV - 1) * NE] = float('nan')   # the last token's logit is NaN in every state
if '--inf' in sys.argv: out[(NV - 1) * NE] = float('inf')
z = lambda *d: bytes(4 * math.prod(d)); one = p('<%df' % NE, *[1.0] * NE)
T = [('token_embd.weight', (NE, NV), emb.tobytes()), ('blk.0.attn_norm.weight', (NE,), one), ('blk.0.attn_q.weight', (NE, NE), z(NE, NE)), ('blk.0.attn_k.weight', (NE, 64), z(NE, 64)), ('blk.0.attn_v.weight', (NE, 64), z(NE, 64)), ('blk.0.attn_output.weight', (NE, NE), z(NE, NE)),
     ('blk.0.ffn_norm.weight', (NE,), one), ('blk.0.ffn_gate.weight', (NE, 64), z(NE, 64)), ('blk.0.ffn_up.weight', (NE, 64), z(NE, 64)), ('blk.0.ffn_down.weight', (64, NE), z(64, NE)), ('output_norm.weight', (NE,), one), ('output.weight', (NE, NV), out.tobytes())]
h = b'GGUF' + p('<IQQ', 3, len(T), len(K)) + b''.join(K); o = 0; body = b''
for n, d, raw in T:
    h += s(n) + p('<I', len(d)) + b''.join(p('<Q', x) for x in d) + p('<IQ', 0, o); raw += b'\0' * (-len(raw) % 32); body += raw; o += len(raw)
h += b'\0' * (-len(h) % 32)
open(sys.argv[1], 'wb').write(h + body)
for k, (i, tx) in trig.items(): print('%4d  %-16s %r' % (i, k, tx))
# self-check in plain Python: norm(one-hot*AMP) -> sqrt(NE) at one place -> logits
def logits(i):
    v = AMP / math.sqrt(AMP * AMP / NE + 1e-6); return [out[j * NE + i] * v for j in range(NV)]
L = logits(trig['dist'][0]); m = max(L); e = [math.exp(x - m) for x in L]; S = sum(e)
print('dist check', [round(x / S, 6) for x in sorted(e, reverse=True)[:5]] if 'nan' not in str(S) else 'nan', 'vocab', NV, 'bytes', len(h) + len(body))
