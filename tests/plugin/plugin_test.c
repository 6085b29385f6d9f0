/* plugin_test.c - the ggml plug-in in a small program of our own (host.h): programs that it cannot serve, graphs with
 * faults, memory, streams, events, plans that are kept, fusion by name, allocations that fail.
 *
 * Each world loads copies of the program and of the plug-in, so that every one starts anew, in one process.
 * usage: plugin_test PLUGIN HOST */
#include "tests/plugin/host.h"

#include "base/test.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define FAILS_ALLOCATIONS 1
/* In front of glibc's own: counts what lives, and fails the one that is asked for. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern void __libc_free(void *p);
static atomic_long n_tries, n_live;
static atomic_long fail_at = -1; /* the try that fails */

static bool fails(void) { return ++n_tries == fail_at; }
static void *live(void *p) {
    n_live += p != NULL;
    return p;
}
void *malloc(size_t n) { return fails() ? NULL : live(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : live(__libc_calloc(n, size)); }
void *realloc(void *p, size_t n) {
    if (fails()) return NULL;
    void *r = __libc_realloc(p, n);
    if (!p) live(r);
    return r;
}
int posix_memalign(void **out, size_t align, size_t n) {
    if (fails()) return ENOMEM;
    *out = live(__libc_memalign(align, n));
    return *out ? 0 : ENOMEM;
}
void free(void *p) {
    n_live -= p != NULL;
    __libc_free(p);
}
#endif

static const char *plugin_path, *host_path;

/* ---- What was said on standard error ----------------------------------------------------------------------------- */

static int kept_stderr = -1;
static char said[16384];

static void listen_to(void) {
    fflush(stderr);
    FILE *f = tmpfile();
    assert_non_null(f);
    kept_stderr = dup(2);
    dup2(fileno(f), 2);
    fclose(f);
}

/* Also after a test that failed while it listened. */
static int speak_again(void **state_) {
    (void)state_;
    if (kept_stderr >= 0) {
        dup2(kept_stderr, 2);
        close(kept_stderr);
    }
    kept_stderr = -1;
    return 0;
}

/* How many lines came since; their text is in `said`. */
static int heard(void) {
    fflush(stderr);
    const off_t n = lseek(2, 0, SEEK_END);
    lseek(2, 0, SEEK_SET);
    const ssize_t got = read(2, said, sizeof said - 1);
    said[got > 0 ? got : 0] = 0;
    assert_true(n < (off_t)sizeof said);
    speak_again(NULL);
    int lines = 0;
    for (const char *p = said; *p;) {
        const size_t len = strcspn(p, "\n");
        lines += *p != '='; /* what sanitizers remark on huge sizes */
        p += len + (p[len] == '\n');
    }
    return lines;
}

/* ---- Worlds ------------------------------------------------------------------------------------------------------ */

typedef struct {
    fake_host h;
    gg_reg *reg; /* NULL: refused */
    gg_device *dev;
    void *plugin;
    int n_lines; /* said while it was loaded */
} world;

typedef struct {
    int version;         /* of the program; 0: 3 */
    const char *lacks;   /* a function that it does not have */
    const char *taken;   /* a device that it has */
    const char *devices; /* LODE_GGML; NULL: cpu */
    const char *cpus;    /* LODE_GGML_CPUS */
    const fake_host *in; /* a program that is there already */
} world_desc;

/* Writes `path` to a new file, every name `lacks` in it changed, and loads that. */
static void *load_copy(const char *path, const char *lacks) {
    char to[] = "/tmp/lode_plugin_XXXXXX";
    FILE *f = fopen(path, "rb");
    const int fd = mkstemp(to);
    if (!f || fd < 0) fail_msg("cannot copy %s", path);
    fseek(f, 0, SEEK_END);
    const size_t size = (size_t)ftell(f), n = lacks ? strlen(lacks) + 1 : 0;
    rewind(f);
    char *bytes = malloc(size);
    assert_int_equal(fread(bytes, 1, size, f), size);
    for (size_t i = 1; lacks && i + n <= size; i++)
        if (!bytes[i - 1] && memcmp(bytes + i, lacks, n) == 0) bytes[i] = '?';
    assert_int_equal(write(fd, bytes, size), size);
    free(bytes);
    fclose(f);
    close(fd);
    void *lib = dlopen(to, RTLD_NOW | RTLD_LOCAL);
    if (!lib) fail_msg("%s: %s", path, dlerror());
    unlink(to);
    return lib;
}

static void look_up(void *lib, const char *name, void *function) {
    void *p = dlsym(lib, name);
    if (!p) fail_msg("no %s", name);
    memcpy(function, &p, sizeof p);
}

static void load_host(fake_host *h, const char *lacks) {
    void *lib = load_copy(host_path, lacks);
    look_up(lib, "fake_init", &h->init);
    look_up(lib, "fake_op", &h->op);
    look_up(lib, "fake_unary", &h->unary);
    look_up(lib, "fake_glu", &h->glu);
    look_up(lib, "fake_type", &h->type);
    look_up(lib, "fake_registry", &h->registry);
    look_up(lib, "fake_taken_device", &h->taken);
    if (!lacks || strcmp(lacks, "ggml_nbytes") != 0) look_up(lib, "ggml_nbytes", &h->n_bytes);
}

static world open_world(const world_desc *d) {
    world w = { 0 };
    if (d->in)
        w.h = *d->in;
    else
        load_host(&w.h, d->lacks);
    w.h.registry->version = d->version ? d->version : 3;
    if (d->taken) *w.h.taken = d->taken;
    setenv("LODE_GGML", d->devices ? d->devices : "cpu", 1);
    setenv("LODE_GGML_CPUS", d->cpus ? d->cpus : "", 1);
    gg_reg *(*entry)(void);
    w.plugin = load_copy(plugin_path, NULL);
    look_up(w.plugin, "ggml_backend_init", &entry);
    listen_to();
    w.reg = w.h.init(entry);
    w.n_lines = heard();
    if (w.reg) w.dev = w.reg->device(w.reg, 0);
    return w;
}

static gg_buffer *alloc(const world *w, size_t size) {
    gg_buft *t = w->dev->buffer_type(w->dev);
    return w->reg->version == 3 ? t->v3.alloc(t, size) : t->v2.alloc(t, size);
}

static void free_buffer(gg_buffer *b) {
    if (!b) return;
    b->ops.free(b);
    free(b);
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

enum { MOST = 16, ROOM = 4096 };

/* A few tensors in one buffer, and the nodes among them. */
typedef struct {
    const world *w;
    gg_buffer *buffer; /* own */
    gg_tensor t[MOST];
    gg_tensor *nodes[MOST];
    gg_graph g;
    int n;
    size_t used;
} net;

static net open_net(const world *w) {
    net n = { .w = w, .buffer = alloc(w, ROOM) };
    assert_non_null(n.buffer);
    n.buffer->ops.clear(n.buffer, 0);
    return n;
}

/* Data of this shape, dense, its next place in the buffer. */
static gg_tensor *data(net *n, const char *type, int64_t ne0, int64_t ne1) {
    gg_tensor *t = &n->t[n->n++];
    *t = (gg_tensor){ .type = n->w->h.type(type), .buffer = n->buffer, .ne = { ne0, ne1, 1, 1 } };
    const bool blocks = type[0] == 'q';
    t->nb[0] = strcmp(type, "q4_0") == 0 ? 18 : strcmp(type, "q8_0") == 0 ? 34 : type[1] == '1' ? 2 : 4;
    t->nb[1] = t->nb[0] * (size_t)(blocks ? ne0 / 32 : ne0);
    t->nb[2] = t->nb[3] = t->nb[1] * (size_t)ne1;
    t->data = (char *)n->buffer->ops.base(n->buffer) + n->used;
    n->used += (t->nb[2] + 63) / 64 * 64;
    assert_true(n->used <= ROOM && n->n <= MOST);
    snprintf(t->name, sizeof t->name, "t%d", n->n - 1);
    return t;
}

static gg_tensor *node(net *n, const char *op, int64_t ne0, int64_t ne1, gg_tensor *a, gg_tensor *b) {
    gg_tensor *t = data(n, "f32", ne0, ne1);
    t->op = n->w->h.op(op);
    assert_true(t->op > 0);
    t->flags = GG_FLAG_COMPUTE;
    t->src[0] = a;
    t->src[1] = b;
    n->nodes[n->g.n_nodes++] = t;
    n->g.nodes = n->nodes;
    return t;
}

/* The address of n is in the graph: it stays where it is. */
static int run(net *n, gg_backend *s) {
    n->g.nodes = n->nodes;
    const int status = s->ops.compute(s, &n->g);
    s->ops.synchronize(s);
    return status;
}

static void fill(gg_tensor *t, float from, float step) {
    for (int64_t i = 0; i < t->ne[0] * t->ne[1]; i++) {
        const float v = from + step * (float)i;
        t->buffer->ops.set(t->buffer, t, &v, (size_t)i * 4, 4);
    }
}

static float value(const gg_tensor *t, int64_t i) {
    float v = 0;
    t->buffer->ops.get(t->buffer, t, &v, (size_t)i * 4, 4);
    return v;
}

static void near(float got, float want) {
    if (!(got - want < 1e-5f && want - got < 1e-5f)) fail_msg("got %g, want %g", (double)got, (double)want);
}

/* c = a + b, d = c x c' of ones: for whatever needs a graph that works. */
static void small_graph(net *n) {
    gg_tensor *a = data(n, "f32", 4, 3), *b = data(n, "f32", 4, 3), *w = data(n, "f32", 4, 2);
    fill(a, 1, 1);
    fill(b, 10, 0);
    fill(w, 0, 1);
    gg_tensor *c = node(n, "ADD", 4, 3, a, b);
    node(n, "MUL_MAT", 2, 3, w, c);
}

static void check_small_graph(const net *n) {
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 2; k++) {
            float want = 0;
            for (int i = 0; i < 4; i++) want += (float)(4 * k + i) * (float)(4 * row + i + 11);
            near(value(&n->t[4], 2 * row + k), want);
        }
}

/* ---- Programs that it cannot serve ------------------------------------------------------------------------------- */

TEST(a_program_of_another_interface_version_gets_one_line_and_nothing) {
    (void)state_;
    for (int v = 1; v <= 5; v++) {
        const world w = open_world(&(world_desc){ .version = v });
        assert_int_equal(w.reg != NULL, v == 2 || v == 3);
        assert_int_equal(w.n_lines, 1);
        if (w.reg)
            assert_int_equal(w.reg->version, v);
        else
            assert_non_null(strstr(said, "interface version"));
    }
    /* One that does not say: by what it exports. */
    assert_int_equal(open_world(&(world_desc){ .lacks = "ggml_backend_reg_get" }).reg->version, 3);
}

TEST(a_program_without_a_function_that_is_needed_gets_one_line_that_names_it) {
    (void)state_;
    static const char *const needed[] = { "ggml_op_name",   "ggml_unary_op_name", "ggml_glu_op_name",
                                          "ggml_type_name", "ggml_nbytes",        "ggml_backend_buffer_init" };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const world w = open_world(&(world_desc){ .lacks = needed[i] });
        assert_null(w.reg);
        assert_int_equal(w.n_lines, 1);
        assert_non_null(strstr(said, needed[i]));
    }
    static const char *const optional[] = { "ggml_backend_dev_by_name", "ggml_can_fuse_subgraph_ext",
                                            "ggml_graph_next_uid", "ggml_build_forward_select" };
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        const world w = open_world(&(world_desc){ .lacks = optional[i] });
        assert_non_null(w.reg);
        gg_backend *s = w.dev->open(w.dev, NULL);
        net n = open_net(&w);
        small_graph(&n);
        assert_int_equal(run(&n, s), GG_OK);
        check_small_graph(&n);
        s->ops.free(s);
        free_buffer(n.buffer);
    }
}

TEST(devices_are_offered_once_and_what_is_asked_wrongly_is_said) {
    (void)state_;
    world w = open_world(&(world_desc){ .devices = "cpu,CPU,cpu" });
    assert_int_equal(w.reg->n_devices(w.reg), 1);
    assert_string_equal(w.dev->name(w.dev), "LODE0");
    assert_null(w.reg->device(w.reg, 1));
    assert_int_equal(w.n_lines, 1);
    w = open_world(&(world_desc){ .devices = "tpu,,cpu" });
    assert_int_equal(w.reg->n_devices(w.reg), 1);
    assert_int_equal(w.n_lines, 2);
    assert_non_null(strstr(said, "\"tpu\""));
    w = open_world(&(world_desc){ .cpus = "2" });
    assert_int_equal(w.reg->n_devices(w.reg), 2);
    static const char *const wrong[] = { "0", "17", "2x", "-1", "99999999999999999999" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        w = open_world(&(world_desc){ .cpus = wrong[i] });
        assert_int_equal(w.reg->n_devices(w.reg), 1);
        assert_int_equal(w.n_lines, 2);
        assert_non_null(strstr(said, "LODE_GGML_CPUS"));
    }
    w = open_world(&(world_desc){ .taken = "LODE0" });
    assert_string_equal(w.dev->name(w.dev), "LODE_LODE0");
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

TEST(a_graph_gives_its_values_in_both_versions) {
    (void)state_;
    for (int v = 2; v <= 3; v++) {
        const world w = open_world(&(world_desc){ .version = v });
        gg_backend *s = w.dev->open(w.dev, NULL);
        net n = open_net(&w);
        small_graph(&n);
        for (int i = 0; i < n.g.n_nodes; i++) assert_true(w.dev->supports_op(w.dev, n.nodes[i]));
        assert_int_equal(run(&n, s), GG_OK);
        check_small_graph(&n);
        n.g.n_nodes = 0;
        assert_int_equal(run(&n, s), GG_OK);
        s->ops.free(s);
        free_buffer(n.buffer);
    }
}

TEST(unknown_ops_and_types_are_not_supported_and_fail_with_one_line) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL);
    for (int fault = 0; fault < 7; fault++) {
        net n = open_net(&w);
        small_graph(&n);
        gg_tensor *t = n.nodes[0];
        if (fault == 0) t->op = w.h.op("WARP");
        if (fault == 1) t->op = 100000;
        if (fault == 2) t->op = -7;
        if (fault == 3) t->type = w.h.type("zzz");
        if (fault == 4) t->src[1]->type = 1000;
        if (fault == 5) t->type = -1;
        if (fault == 6) { /* UNARY of a kind nobody knows */
            t->op = w.h.op("UNARY");
            t->par[0] = w.h.unary("WOBBLE");
        }
        assert_false(w.dev->supports_op(w.dev, t));
        assert_false(w.dev->offload_op(w.dev, t));
        listen_to();
        assert_int_equal(run(&n, s), GG_FAILED);
        assert_int_equal(heard(), 1);
        assert_non_null(strstr(said, fault == 4 ? "t1" : "t3"));
        free_buffer(n.buffer);
    }
    s->ops.free(s);
}

/* Each op with sources missing, of no shape that fits it, with parameters of any value: an answer, never a crash. */
TEST(every_op_with_sources_or_parameters_of_no_sense_gets_an_answer) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL);
    static const char *const types[] = { "f32", "i32", "q4_0", "f16" };
    static const int32_t pars[] = { 0, 1, -1, 3, 0x7FFFFFFF, (int32_t)0x80000000, 0x7FC00000 };
    listen_to();
    for (int op = 0; op < 130; op++)
        for (int mask = 0; mask < 16; mask++)
            for (int k = 0; k < 12; k++) {
                net n = open_net(&w);
                gg_tensor *src[4];
                for (int i = 0; i < 4; i++) src[i] = data(&n, types[(k + i * (k / 4)) % 4], 32, 1 + (i + k) % 2);
                gg_tensor *t = node(&n, "ADD", 32, 2, NULL, NULL);
                t->op = op;
                t->type = w.h.type(k % 3 ? "f32" : types[k % 4]);
                if (t->type == w.h.type("q4_0")) t->nb[0] = 18, t->nb[1] = 18, t->nb[2] = t->nb[3] = 36;
                for (int i = 0; i < 4; i++) t->src[i] = mask >> i & 1 ? src[i] : NULL;
                for (int i = 0; i < GG_PAR; i++) t->par[i] = pars[(k + i * (k % 5)) % 7];
                if (k % 2) t->par[0] = k;
                const bool supported = w.dev->supports_op(w.dev, t);
                assert_int_equal(run(&n, s), supported || t->op == w.h.op("NONE") ? GG_OK : GG_FAILED);
                w.dev->offload_op(w.dev, t);
                free_buffer(n.buffer);
            }
    speak_again(NULL);
    s->ops.free(s);
}

/* What is wrong with node 0 (t3 = t0 + t1), which tensor the line names. */
static const char *spoil(net *n, int fault, gg_buffer *small) {
    gg_tensor *t = n->nodes[0], *src = t->src[1];
    char *base = n->buffer->ops.base(n->buffer);
    if (fault == 0) t->nb[1] = 0;
    if (fault == 1) t->nb[1] = 8; /* rows begin within each other */
    if (fault == 2) {             /* far apart in one dimension, overlapping in another */
        t->ne[1] = t->src[0]->ne[1] = src->ne[1] = 2;
        t->ne[2] = t->src[0]->ne[2] = src->ne[2] = 2;
        t->nb[1] = 4;
        t->nb[2] = t->nb[3] = 512;
    }
    if (fault == 3) t->data = base - 4;
    if (fault == 4) t->data = base + ROOM - 4;
    if (fault == 5) t->data = NULL;
    if (fault == 6) t->buffer = NULL;
    if (fault == 7) t->nb[1] = SIZE_MAX / 2; /* wraps around to where it came from */
    if (fault == 8) t->ne[1] = -3;
    if (fault == 9) t->ne[0] = t->ne[1] = t->ne[2] = INT64_MAX / 2;
    if (fault < 10) return "t3";
    if (fault == 10) src->data = base + ROOM - 4;
    if (fault == 11) src->data = base + ROOM + 64;
    if (fault == 12) src->buffer = NULL;
    if (fault == 13) src->buffer = small; /* another one than it lies in */
    if (fault == 14) src->nb[1] = SIZE_MAX / 2;
    if (fault == 15) src->ne[0] = -4;
    if (fault == 16) src->data = NULL;
    return "t1";
}

TEST(a_tensor_that_overlaps_itself_or_is_not_in_its_buffer_fails_with_one_line_that_names_it) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL);
    gg_buffer *small = alloc(&w, 16);
    for (int fault = 0; fault < 17; fault++) {
        net n = open_net(&w);
        small_graph(&n);
        n.g.n_nodes = 1;
        const char *name = spoil(&n, fault, small);
        listen_to();
        const int status = run(&n, s), lines = heard();
        if (status != GG_FAILED || lines != 1 || !strstr(said, name))
            fail_msg("fault %d: status %d, %d lines: %s", fault, status, lines, said);
        free_buffer(n.buffer);
    }
    net n = open_net(&w); /* and the stream is as good as before */
    small_graph(&n);
    assert_int_equal(run(&n, s), GG_OK);
    check_small_graph(&n);
    free_buffer(n.buffer);
    free_buffer(small);
    s->ops.free(s);
}

static bool stop_at_once(void *user) {
    ++*(int *)user;
    return true;
}

TEST(a_run_that_is_asked_to_stop_says_aborted) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL);
    void (*set_abort)(gg_backend *, bool (*)(void *), void *);
    void *p = w.reg->proc(w.reg, "ggml_backend_set_abort_callback");
    memcpy(&set_abort, &p, sizeof p);
    net n = open_net(&w);
    small_graph(&n);
    int asked = 0;
    set_abort(s, stop_at_once, &asked);
    assert_int_equal(run(&n, s), GG_ABORTED);
    assert_true(asked > 0);
    set_abort(s, NULL, NULL);
    assert_int_equal(run(&n, s), GG_OK);
    check_small_graph(&n);
    s->ops.free(s);
    free_buffer(n.buffer);
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static int plans_made(net *n, gg_backend *s) {
    listen_to();
    assert_int_equal(run(n, s), GG_OK);
    return heard() > 0;
}

TEST(an_equal_graph_is_planned_once_and_a_changed_one_anew) {
    (void)state_;
    setenv("LODE_GGML_PRINT", "plan", 1);
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL), *other = w.dev->open(w.dev, NULL);
    net n = open_net(&w);
    small_graph(&n);
    assert_true(plans_made(&n, s));
    assert_non_null(strstr(said, "matmul"));
    for (int i = 0; i < 3; i++) {
        fill(&n.t[0], 1, 1); /* values are no part of it */
        assert_false(plans_made(&n, s));
        check_small_graph(&n);
    }
    assert_true(plans_made(&n, other)); /* a stream has plans of its own */
    n.t[2].data = (char *)n.t[2].data + ROOM / 2;
    assert_true(plans_made(&n, s));
    n.nodes[0]->op = w.h.op("SUB");
    assert_true(plans_made(&n, s));
    near(value(n.nodes[0], 0), -9);
    n.g.uid = 7; /* known by its number from now on */
    assert_false(plans_made(&n, s));
    n.g.uid = 8;
    assert_false(plans_made(&n, s));
    n.nodes[0]->par[0] = 1;
    n.g.uid = 9;
    assert_true(plans_made(&n, s));
    for (int i = 0; i < 40; i++) { /* more than are kept */
        n.nodes[0]->par[0] = 100 + i;
        n.g.uid = 0;
        assert_true(plans_made(&n, s));
    }
    n.nodes[0]->par[0] = 100; /* the oldest is gone, the newest is there */
    assert_true(plans_made(&n, s));
    n.nodes[0]->par[0] = 139;
    assert_false(plans_made(&n, s));
    unsetenv("LODE_GGML_PRINT");
    s->ops.free(s);
    other->ops.free(other);
    free_buffer(n.buffer);
}

TEST(a_refused_node_is_said_when_asked_for) {
    (void)state_;
    setenv("LODE_GGML_PRINT", "refused", 1);
    const world w = open_world(&(world_desc){ 0 });
    net n = open_net(&w);
    small_graph(&n);
    n.nodes[1]->op = w.h.op("WARP");
    listen_to();
    assert_true(w.dev->supports_op(w.dev, n.nodes[0]));
    assert_false(w.dev->supports_op(w.dev, n.nodes[1]));
    assert_int_equal(heard(), 1);
    assert_non_null(strstr(said, "refused WARP of t4"));
    unsetenv("LODE_GGML_PRINT");
    free_buffer(n.buffer);
}

TEST(memory_given_out_again_in_another_size_is_looked_at_anew) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL);
    static _Alignas(64) char memory[ROOM];
    net n = open_net(&w);
    small_graph(&n);
    gg_buffer *whole = w.dev->wrap(w.dev, memory, ROOM, ROOM);
    for (int i = 0; i < n.n; i++) {
        n.t[i].data = memory + ((char *)n.t[i].data - (char *)n.buffer->ops.base(n.buffer));
        n.t[i].buffer = whole;
    }
    assert_int_equal(run(&n, s), GG_OK);
    for (int i = 0; i < 20; i++) { /* the allocator gives the same address back at once */
        free_buffer(whole);
        whole = w.dev->wrap(w.dev, memory, 16, 16);
        for (int k = 0; k < n.n; k++) n.t[k].buffer = whole;
        listen_to();
        assert_int_equal(run(&n, s), GG_FAILED);
        assert_int_equal(heard(), 1);
    }
    free_buffer(whole);
    s->ops.free(s);
    free_buffer(n.buffer);
}

/* ---- Fusion ------------------------------------------------------------------------------------------------------ */

typedef struct {
    void *(*get)(gg_device *d);
    void (*init)(void *f);
    void (*reset)(void *f);
    int (*stats)(void *f, const char **labels, uint64_t *counts, int n);
    void (*enable)(void *f, bool enabled);
} fusion_api;

static void find_fusion(const world *w, fusion_api *f) {
    struct {
        const char *name;
        void *to;
    } names[] = { { "ggml_backend_fusion_get", &f->get },
                  { "ggml_backend_fusion_stats_init", &f->init },
                  { "ggml_backend_fusion_stats_reset", &f->reset },
                  { "ggml_backend_fusion_stats_get", &f->stats },
                  { "ggml_backend_fusion_set_enabled", &f->enable } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *p = w->reg->proc(w->reg, names[i].name);
        if (!p) fail_msg("no %s", names[i].name);
        memcpy(names[i].to, &p, sizeof p);
    }
}

/* One group of each kind: a norm times its weight, a gate times a value, a matrix product plus a bias. */
static void fusing_graph(net *n) {
    gg_tensor *x = data(n, "f32", 32, 2), *g = data(n, "f32", 32, 1), *m = data(n, "f32", 32, 4);
    fill(x, 0.5f, 0.125f);
    fill(g, 1, 0.25f);
    fill(m, -1, 0.0625f);
    gg_tensor *norm = node(n, "RMS_NORM", 32, 2, x, NULL);
    const float eps = 1e-6f;
    memcpy(norm->par, &eps, sizeof eps);
    gg_tensor *a = node(n, "MUL", 32, 2, norm, g), *silu = node(n, "UNARY", 32, 2, a, NULL);
    silu->par[0] = n->w->h.unary("SILU");
    gg_tensor *b = node(n, "MUL", 32, 2, silu, x), *p = node(n, "MUL_MAT", 4, 2, m, b);
    node(n, "ADD", 4, 2, p, data(n, "f32", 4, 2));
}

TEST(fused_groups_are_counted_by_name_and_fusion_can_be_switched_off) {
    (void)state_;
    const world w = open_world(&(world_desc){ .cpus = "2" });
    fusion_api api;
    find_fusion(&w, &api);
    void *f = api.get(w.dev);
    assert_non_null(f);
    assert_ptr_equal(api.get(w.dev), f);
    assert_ptr_not_equal(api.get(w.reg->device(w.reg, 1)), f);
    assert_null(api.get(NULL));
    gg_device foreign = { 0 };
    assert_null(api.get(&foreign));
    assert_int_equal(api.stats(f, NULL, NULL, 0), 0); /* before init */
    api.init(f);
    const int rows = api.stats(f, NULL, NULL, 0);
    assert_int_equal(rows, 3);
    gg_backend *s = w.dev->open(w.dev, NULL);
    net n = open_net(&w);
    fusing_graph(&n);
    assert_int_equal(run(&n, s), GG_OK);
    assert_int_equal(run(&n, s), GG_OK);
    const char *labels[4] = { 0 };
    uint64_t counts[4] = { 99, 99, 99, 99 };
    assert_int_equal(api.stats(f, labels, counts, 4), rows);
    static const char *const names[] = { "RMS_NORM+MUL", "UNARY+MUL", "MUL_MAT+ADD" };
    float fused[8];
    for (int i = 0; i < rows; i++) {
        assert_string_equal(labels[i], names[i]);
        assert_int_equal(counts[i], 2);
    }
    for (int i = 0; i < 8; i++) fused[i] = value(n.nodes[5], i);
    assert_int_equal(api.stats(f, labels, NULL, 1), 1);
    assert_int_equal(api.stats(f, labels, counts, -1), 0);
    api.reset(f);
    api.enable(f, false); /* the next run already, also of a graph that was planned */
    assert_int_equal(run(&n, s), GG_OK);
    api.stats(f, labels, counts, rows);
    for (int i = 0; i < rows; i++) assert_int_equal(counts[i], 0);
    for (int i = 0; i < 8; i++) near(value(n.nodes[5], i), fused[i]);
    n.g.uid = 5;
    assert_int_equal(run(&n, s), GG_OK);
    api.enable(f, true);
    assert_int_equal(run(&n, s), GG_OK);
    api.stats(f, labels, counts, rows);
    for (int i = 0; i < rows; i++) assert_int_equal(counts[i], 1);
    s->ops.free(s);
    free_buffer(n.buffer);
}

TEST(names_that_nobody_knows_give_nothing_and_features_end_with_an_empty_one) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    assert_null(w.reg->proc(w.reg, "ggml_backend_fly"));
    assert_null(w.reg->proc(w.reg, ""));
    gg_feature *(*features)(gg_reg *);
    void *p = w.reg->proc(w.reg, "ggml_backend_get_features");
    memcpy(&features, &p, sizeof p);
    const gg_feature *f = features(w.reg);
    assert_string_equal(f[0].name, "LODE");
    int n = 0;
    while (f[n].name) assert_non_null(f[n++].value);
    assert_true(n >= 1);
    assert_string_equal(w.reg->name(w.reg), "LODE");
}

static void prolong(void *user, gg_tensor *t, gg_tensor *until) {
    (void)t;
    (void)until;
    ++*(int *)user;
}

TEST(a_graph_may_be_optimised_before_it_has_memory) {
    (void)state_;
    for (int v = 2; v <= 3; v++) {
        const world w = open_world(&(world_desc){ .version = v });
        gg_backend *s = w.dev->open(w.dev, NULL);
        net n = open_net(&w);
        fusing_graph(&n);
        void *places[MOST];
        for (int i = 0; i < n.n; i++) {
            places[i] = n.t[i].data;
            n.t[i].data = NULL;
        }
        int asked = 0;
        struct {
            void (*prolong)(void *user, gg_tensor *t, gg_tensor *until);
            void *user;
        } params = { prolong, &asked };
        gg_tensor *before[MOST];
        memcpy(before, n.nodes, sizeof before);
        s->ops.optimize(s, &n.g, v == 3 ? &params : NULL);
        n.g.n_nodes = 0;
        s->ops.optimize(s, &n.g, v == 3 ? &params : NULL);
        n.g.n_nodes = 6;
        for (int i = 0; i < 6; i++) { /* the same nodes, each once */
            int found = 0;
            for (int k = 0; k < 6; k++) found += before[i] == n.nodes[k];
            assert_int_equal(found, 1);
        }
        for (int i = 0; i < n.n; i++) n.t[i].data = places[i];
        assert_int_equal(run(&n, s), GG_OK);
        s->ops.free(s);
        free_buffer(n.buffer);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

TEST(ranges_behind_a_buffer_change_nothing_and_are_said) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL);
    net n = open_net(&w);
    gg_tensor *t = data(&n, "f32", 4, 1);
    char far[2 * ROOM], got[2 * ROOM];
    memset(far, 7, sizeof far);
    static const struct {
        size_t off, size;
    } ranges[] = { { 0, ROOM + 1 }, { ROOM, 1 }, { ROOM + 1, 0 }, { 1, ROOM }, { SIZE_MAX, 1 }, { 8, SIZE_MAX - 4 } };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const size_t off = ranges[i].off, size = ranges[i].size;
        memset(got, 3, sizeof got);
        listen_to();
        n.buffer->ops.set(n.buffer, t, far, off, size);
        n.buffer->ops.get(n.buffer, t, got, off, size);
        n.buffer->ops.memset(n.buffer, t, 7, off, size);
        s->ops.set_async(s, t, far, off, size);
        s->ops.get_async(s, t, got, off, size);
        s->ops.synchronize(s);
        assert_int_equal(heard(), 5);
        assert_int_equal(got[0], 3);
        const char *bytes = n.buffer->ops.base(n.buffer);
        for (int k = 0; k < ROOM; k++) assert_int_equal(bytes[k], 0);
    }
    listen_to();
    gg_tensor lost = *t;
    lost.data = (char *)t->data - 64; /* not in its buffer at all */
    n.buffer->ops.set(n.buffer, &lost, far, 0, 4);
    s->ops.set_async(s, &lost, far, 0, 4);
    lost.buffer = NULL;
    s->ops.get_async(s, &lost, got, 0, 4);
    assert_int_equal(heard(), 3);
    gg_tensor big = *t;
    big.ne[1] = big.ne[2] = 1000;
    assert_false(n.buffer->ops.copy(n.buffer, &big, t));
    assert_false(s->ops.copy_async(s, s, &big, t));
    s->ops.free(s);
    free_buffer(n.buffer);
}

TEST(a_buffer_of_no_bytes_can_be_used_and_freed) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL);
    gg_buffer *b = alloc(&w, 0);
    assert_non_null(b);
    assert_non_null(b->ops.base(b));
    b->ops.clear(b, 1);
    net n = open_net(&w);
    small_graph(&n);
    for (int i = 0; i < n.n; i++) { /* no rows anywhere: nothing to compute */
        n.t[i].ne[1] = 0;
        n.t[i].buffer = b;
        n.t[i].data = b->ops.base(b);
    }
    n.t[2].ne[1] = 2;
    for (int i = 0; i < 2; i++) assert_true(w.dev->supports_op(w.dev, n.nodes[i]));
    assert_int_equal(run(&n, s), GG_OK);
    char c;
    b->ops.set(b, &n.t[0], &c, 0, 0);
    b->ops.get(b, &n.t[0], &c, 0, 0);
    free_buffer(b);
    listen_to();
    assert_null(alloc(&w, SIZE_MAX - 100));
    assert_null(alloc(&w, SIZE_MAX));
    assert_int_equal(heard(), 2);
    s->ops.free(s);
    free_buffer(n.buffer);
}

TEST(memory_of_the_program_is_used_in_place_and_stays_its_own) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL);
    float weights[8];
    for (int i = 0; i < 8; i++) weights[i] = (float)i;
    gg_buffer *b = w.dev->wrap(w.dev, weights, sizeof weights, sizeof weights);
    assert_ptr_equal(b->ops.base(b), weights);
    b->usage = GG_USAGE_WEIGHTS;
    net n = open_net(&w);
    small_graph(&n);
    n.t[2].buffer = b;
    n.t[2].data = weights;
    assert_int_equal(run(&n, s), GG_OK);
    check_small_graph(&n);
    weights[0] = 5; /* read when it runs */
    assert_int_equal(run(&n, s), GG_OK);
    near(value(&n.t[4], 0), 5 * 11 + 1 * 12 + 2 * 13 + 3 * 14);
    s->ops.free(s);
    free_buffer(b);
    assert_true(weights[7] == 7.0f);
    free_buffer(n.buffer);
}

TEST(sizes_of_tensors_are_theirs_and_joint_ones_are_aligned_sums) {
    (void)state_;
    for (int v = 2; v <= 3; v++) {
        const world w = open_world(&(world_desc){ .version = v });
        gg_buft *t = w.dev->buffer_type(w.dev);
        const size_t align = v == 3 ? t->v3.alignment(t) : t->v2.alignment(t);
        assert_true(align > 0 && (align & (align - 1)) == 0);
        net n = open_net(&w);
        gg_tensor *x[5];
        size_t want = 0;
        for (int i = 0; i < 5; i++) {
            x[i] = data(&n, i == 2 ? "q4_0" : "f32", 32 * (1 + i % 2), 3);
            x[i]->data = NULL;
            const size_t size = v == 3 ? t->v3.alloc_size(t, x[i]) : t->v2.alloc_size(t, x[i]);
            assert_int_equal(size, w.h.n_bytes(x[i]));
            if (i < 3) want += (size + align - 1) / align * align;
        }
        x[3]->view_src = x[0];
        x[4]->data = x; /* placed already */
        if (v == 3) {
            assert_int_equal(t->v3.alloc_size_n(t, x, 5), want);
            assert_int_equal(t->v3.alloc_size_n(t, x, 0), 0);
            x[0]->nb[1] = x[1]->nb[1] = SIZE_MAX / 5 * 2; /* a sum beyond the address space */
            assert_true(t->v3.alloc_size_n(t, x, 3) == SIZE_MAX);
            assert_string_equal(t->v3.name(t), w.dev->name(w.dev));
            assert_ptr_equal(t->v3.device, w.dev);
        }
        assert_true((v == 3 ? t->v3.max_size(t) : t->v2.max_size(t)) >= ROOM);
        assert_true(w.dev->supports_buft(w.dev, t));
        free_buffer(n.buffer);
    }
}

TEST(properties_say_what_there_is) {
    (void)state_;
    for (int v = 2; v <= 3; v++) {
        const world w = open_world(&(world_desc){ .version = v });
        size_t available = 0, total = 0;
        w.dev->memory(w.dev, &available, &total);
        assert_true(total > 0 && available > 0 && available <= total);
        gg_props p;
        memset(&p, 0x55, sizeof p);
        w.dev->props(w.dev, &p);
        assert_string_equal(p.name, "LODE0");
        assert_non_null(strstr(p.description, "lode"));
        assert_true(p.memory_total == total && p.memory_free > 0 && p.memory_free <= total);
        assert_int_equal(p.type, GG_DEVICE_GPU);
        assert_true(p.caps.async && p.caps.events && p.caps.from_host_ptr && !p.caps.host_buffer);
        const unsigned char *mmap_cap = (const unsigned char *)&p.caps.mmap;
        assert_int_equal(*mmap_cap, v == 3 ? 1 : 0x55); /* version 2 has no such field */
        assert_ptr_equal(w.dev->reg, w.reg);
        assert_false(w.dev->offload_op(w.dev, &(gg_tensor){ .op = w.h.op("VIEW") }));
    }
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

TEST(copies_between_streams_and_devices_keep_their_order) {
    (void)state_;
    const world w = open_world(&(world_desc){ .cpus = "2" });
    world far = w; /* the second device */
    far.dev = w.reg->device(w.reg, 1);
    assert_non_null(far.dev);
    assert_false(w.dev->supports_buft(w.dev, far.dev->buffer_type(far.dev)));
    gg_backend *s[3] = { w.dev->open(w.dev, NULL), w.dev->open(w.dev, NULL), far.dev->open(far.dev, NULL) };
    net n[3] = { open_net(&w), open_net(&w), open_net(&far) };
    gg_tensor *t[3];
    for (int i = 0; i < 3; i++) t[i] = data(&n[i], "f32", 8, 1);
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            if (from == to) continue;
            float v[8], got[8] = { 0 };
            for (int i = 0; i < 8; i++) v[i] = (float)(10 * from + to + i);
            s[from]->ops.set_async(s[from], t[from], v, 0, sizeof v);
            assert_true(s[to]->ops.copy_async(s[from], s[to], t[from], t[to]));
            s[to]->ops.get_async(s[to], t[to], got, 0, sizeof got);
            s[to]->ops.synchronize(s[to]);
            assert_memory_equal(got, v, sizeof v);
            v[0] = 77;
            s[from]->ops.set_async(s[from], t[from], v, 0, sizeof v);
            s[from]->ops.synchronize(s[from]);
            assert_true(n[to].buffer->ops.copy(n[to].buffer, t[from], t[to])); /* the blocking one */
            near(value(t[to], 0), 77);
        }
    gg_backend foreign = { 0 };
    assert_false(s[0]->ops.copy_async(&foreign, s[0], t[0], t[1]));
    assert_false(s[0]->ops.copy_async(s[0], &foreign, t[0], t[1]));
    for (int i = 0; i < 3; i++) {
        s[i]->ops.free(s[i]);
        free_buffer(n[i].buffer);
    }
}

TEST(events_may_outlive_what_they_were_recorded_on) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    void (*set_threads)(gg_backend *, int);
    void *p = w.reg->proc(w.reg, "ggml_backend_set_n_threads");
    memcpy(&set_threads, &p, sizeof p);
    gg_backend *a = w.dev->open(w.dev, NULL), *b = w.dev->open(w.dev, NULL);
    gg_event *e = w.dev->event_open(w.dev);
    assert_non_null(e);
    w.dev->event_synchronize(w.dev, e); /* never recorded */
    b->ops.event_wait(b, e);
    net n = open_net(&w);
    small_graph(&n);
    assert_int_equal(a->ops.compute(a, &n.g), GG_OK);
    a->ops.event_record(a, e);
    b->ops.event_wait(b, e);
    w.dev->event_synchronize(w.dev, e);
    check_small_graph(&n);
    a->ops.event_record(a, e);
    set_threads(a, 2); /* the stream is another one now */
    w.dev->event_synchronize(w.dev, e);
    b->ops.event_wait(b, e);
    a->ops.event_record(a, e);
    a->ops.free(a);
    w.dev->event_synchronize(w.dev, e);
    b->ops.event_wait(b, e);
    set_threads(b, 0);
    set_threads(NULL, 1);
    b->ops.free(b);
    w.dev->event_close(w.dev, e);
    w.dev->event_close(w.dev, NULL);
    free_buffer(n.buffer);
}

static void *run_often(void *p) {
    const world *w = p;
    gg_backend *s = w->dev->open(w->dev, NULL);
    net n = open_net(w);
    small_graph(&n);
    long failed = 0;
    for (int i = 0; i < 50; i++) failed += run(&n, s) != GG_OK;
    check_small_graph(&n);
    s->ops.free(s);
    free_buffer(n.buffer);
    return failed ? p : NULL;
}

TEST(two_streams_of_one_device_run_at_once) {
    (void)state_;
    world w = open_world(&(world_desc){ 0 });
    pthread_t t[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&t[i], NULL, run_often, &w), 0);
    for (int i = 0; i < 2; i++) {
        void *failed;
        assert_int_equal(pthread_join(t[i], &failed), 0);
        assert_null(failed);
    }
}

TEST(memory_and_plug_in_may_go_while_a_stream_is_open) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    gg_backend *s = w.dev->open(w.dev, NULL);
    net n = open_net(&w);
    small_graph(&n);
    assert_int_equal(run(&n, s), GG_OK);
    free_buffer(n.buffer); /* its plan is still kept */
    net again = open_net(&w);
    small_graph(&again);
    assert_int_equal(run(&again, s), GG_OK);
    check_small_graph(&again);
    assert_int_equal(dlclose(w.plugin), 0); /* the threads of the stream live on */
    usleep(20 * 1000);
    assert_int_equal(run(&again, s), GG_OK);
    check_small_graph(&again);
    s->ops.free(s);
    free_buffer(again.buffer);
    gg_backend *unused = w.dev->open(w.dev, NULL); /* closed without any work */
    unused->ops.free(unused);
}

TEST(two_copies_in_one_program_do_not_take_each_others_things) {
    (void)state_;
    const world a = open_world(&(world_desc){ 0 });
    const world b = open_world(&(world_desc){ .in = &a.h, .taken = "LODE0" });
    assert_non_null(b.reg);
    assert_ptr_not_equal(a.reg, b.reg);
    assert_string_equal(a.dev->name(a.dev), "LODE0");
    assert_string_equal(b.dev->name(b.dev), "LODE_LODE0");
    assert_false(a.dev->supports_buft(a.dev, b.dev->buffer_type(b.dev)));
    gg_backend *sa = a.dev->open(a.dev, NULL), *sb = b.dev->open(b.dev, NULL);
    net n[2] = { open_net(&a), open_net(&b) };
    small_graph(&n[0]);
    small_graph(&n[1]);
    assert_int_equal(run(&n[0], sa), GG_OK);
    assert_int_equal(run(&n[1], sb), GG_OK);
    check_small_graph(&n[0]);
    check_small_graph(&n[1]);
    assert_false(sa->ops.copy_async(sa, sb, &n[0].t[0], &n[1].t[0]));
    assert_false(n[1].buffer->ops.copy(n[1].buffer, &n[0].t[0], &n[1].t[0]));
    listen_to();
    assert_int_equal(run(&n[0], sb), GG_FAILED);
    assert_int_equal(heard(), 1);
    fusion_api api;
    find_fusion(&a, &api);
    assert_null(api.get(b.dev));
    sa->ops.free(sa);
    sb->ops.free(sb);
    free_buffer(n[0].buffer);
    free_buffer(n[1].buffer);
}

/* ---- Allocations that fail --------------------------------------------------------------------------------------- */

#ifdef FAILS_ALLOCATIONS
/* All that a program does with a device once; false when something could not be had. */
static bool whole_life(const world *w) {
    bool ok = true;
    gg_buffer *b = alloc(w, ROOM), *wrapped = w->dev->wrap(w->dev, said, 64, 64);
    gg_backend *s = w->dev->open(w->dev, NULL);
    gg_event *e = w->dev->event_open(w->dev);
    ok = b && wrapped && s && e;
    if (b && s) {
        net n = { .w = w, .buffer = b };
        fusing_graph(&n);
        for (int i = 0; i < n.g.n_nodes; i++) ok = w->dev->supports_op(w->dev, n.nodes[i]) && ok;
        const int status = run(&n, s);
        if (status != GG_OK && status != GG_ALLOC_FAILED) fail_msg("status %d: %s", status, said);
        ok = ok && status == GG_OK;
        if (e) {
            s->ops.event_record(s, e);
            s->ops.event_wait(s, e);
        }
        ok = s->ops.copy_async(s, s, &n.t[0], &n.t[1]) && ok;
    }
    w->dev->event_close(w->dev, e);
    if (s) s->ops.free(s);
    free_buffer(wrapped);
    free_buffer(b);
    return ok;
}

TEST(each_allocation_in_turn_may_fail_and_nothing_is_lost) {
    (void)state_;
    const world w = open_world(&(world_desc){ 0 });
    assert_true(whole_life(&w)); /* what is made once for the process is there now */
    int failed = 0;
    for (long k = 1; k < 5000; k++) {
        const long before = n_live;
        listen_to();
        n_tries = 0;
        fail_at = k;
        const bool ok = whole_life(&w);
        const bool reached = n_tries >= k;
        fail_at = -1;
        const int lines = heard();
        if (n_live != before) fail_msg("allocation %ld fails: %ld blocks are lost", k, n_live - before);
        failed += !ok;
        if (!reached) {
            assert_true(ok);
            assert_int_equal(lines, 0);
            assert_true(failed > 20);
            return;
        }
    }
    fail_msg("it never ends");
}

TEST(loading_with_an_allocation_that_fails_gives_one_line_and_nothing) {
    (void)state_;
    int failed = 0;
    for (long k = 1; k < 200; k++) {
        world w = { 0 };
        load_host(&w.h, NULL);
        setenv("LODE_GGML", "cpu", 1);
        gg_reg *(*entry)(void);
        look_up(load_copy(plugin_path, NULL), "ggml_backend_init", &entry);
        listen_to();
        n_tries = 0;
        fail_at = k;
        gg_reg *r = w.h.init(entry);
        const bool reached = n_tries >= k;
        fail_at = -1;
        assert_int_equal(heard(), 1);
        assert_non_null(strstr(said, "lode: "));
        failed += !r;
        if (reached) continue;
        assert_non_null(r);
        assert_true(failed > 0);
        return;
    }
    fail_msg("it never ends");
}
#endif

#define T(name) cmocka_unit_test_teardown(name, speak_again)

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    plugin_path = argv[1];
    host_path = argv[2];
    const struct CMUnitTest tests[] = {
        T(a_program_of_another_interface_version_gets_one_line_and_nothing),
        T(a_program_without_a_function_that_is_needed_gets_one_line_that_names_it),
        T(devices_are_offered_once_and_what_is_asked_wrongly_is_said),
        T(a_graph_gives_its_values_in_both_versions),
        T(unknown_ops_and_types_are_not_supported_and_fail_with_one_line),
        T(every_op_with_sources_or_parameters_of_no_sense_gets_an_answer),
        T(a_tensor_that_overlaps_itself_or_is_not_in_its_buffer_fails_with_one_line_that_names_it),
        T(a_run_that_is_asked_to_stop_says_aborted),
        T(an_equal_graph_is_planned_once_and_a_changed_one_anew),
        T(a_refused_node_is_said_when_asked_for),
        T(memory_given_out_again_in_another_size_is_looked_at_anew),
        T(fused_groups_are_counted_by_name_and_fusion_can_be_switched_off),
        T(a_graph_may_be_optimised_before_it_has_memory),
        T(names_that_nobody_knows_give_nothing_and_features_end_with_an_empty_one),
        T(ranges_behind_a_buffer_change_nothing_and_are_said),
        T(a_buffer_of_no_bytes_can_be_used_and_freed),
        T(memory_of_the_program_is_used_in_place_and_stays_its_own),
        T(sizes_of_tensors_are_theirs_and_joint_ones_are_aligned_sums),
        T(properties_say_what_there_is),
        T(copies_between_streams_and_devices_keep_their_order),
        T(events_may_outlive_what_they_were_recorded_on),
        T(two_streams_of_one_device_run_at_once),
        T(memory_and_plug_in_may_go_while_a_stream_is_open),
        T(two_copies_in_one_program_do_not_take_each_others_things),
#ifdef FAILS_ALLOCATIONS
        T(each_allocation_in_turn_may_fail_and_nothing_is_lost),
        T(loading_with_an_allocation_that_fails_gives_one_line_and_nothing),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
