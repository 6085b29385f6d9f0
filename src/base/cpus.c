/* cpus.c - cores and memory from the operating system. */
#include "base/cpus.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <sys/sysctl.h>

static size_t sysctl_size(const char *name) {
    uint64_t v = 0;
    size_t n = sizeof v;
    return sysctlbyname(name, &v, &n, NULL, 0) == 0 ? (size_t)v : 0;
}

int lode_cpus(void) {
    const size_t fast = sysctl_size("hw.perflevel0.physicalcpu"); /* the slow cores would hold up every barrier */
    const size_t all = fast ? fast : sysctl_size("hw.physicalcpu");
    return all ? (int)all : 1;
}

int lode_processors(void) {
    const size_t n = sysctl_size("hw.logicalcpu");
    return n ? (int)n : 1;
}

size_t lode_memory_total(void) { return sysctl_size("hw.memsize"); }
size_t lode_memory_free(void) { return lode_memory_total() / 2; }

void lode_cpu_name(char *buf, size_t n) {
    size_t len = n;
    if (sysctlbyname("machdep.cpu.brand_string", buf, &len, NULL, 0) != 0) snprintf(buf, n, "CPU");
}

#else
#include <sched.h>

/* First line of a file into buf, without the newline; false when it cannot be read. */
static bool read_line(const char *path, char *buf, size_t n) {
    FILE *f = fopen(path, "r");
    if (!f) return false;
    const bool ok = fgets(buf, (int)n, f) != NULL;
    fclose(f);
    if (ok) buf[strcspn(buf, "\n")] = '\0';
    return ok;
}

/* Cores among the processors we may run on: those that are the first of their siblings within the set. */
static int cores_of_affinity(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return (int)sysconf(_SC_NPROCESSORS_ONLN);
    int cores = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &set)) continue;
        char path[96], line[64];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        if (!read_line(path, line, sizeof line)) {
            cores++;
            continue;
        }
        /* "3,67" or "6-7": counted by the lowest sibling that is in the set. */
        char *p = line;
        int lowest = cpu;
        while (*p) {
            const long from = strtol(p, &p, 10), to = *p == '-' ? strtol(p + 1, &p, 10) : from;
            for (long c = from; c <= to && c < CPU_SETSIZE; c++)
                if (c >= 0 && CPU_ISSET((size_t)c, &set) && c < lowest) lowest = (int)c;
            if (*p == ',')
                p++;
            else
                break;
        }
        cores += lowest == cpu;
    }
    return cores;
}

/* CPUs' worth of time that the cgroup grants, rounded up; 0 for no limit. Version 2, then version 1. */
static int cores_of_quota(void) {
    char line[64];
    long quota = 0, period = 0;
    if (read_line("/sys/fs/cgroup/cpu.max", line, sizeof line)) {
        if (sscanf(line, "%ld %ld", &quota, &period) != 2) return 0;
    } else {
        if (!read_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", line, sizeof line)) return 0;
        quota = atol(line);
        if (!read_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us", line, sizeof line)) return 0;
        period = atol(line);
    }
    return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

static int at_most_quota(int n) {
    const int quota = cores_of_quota();
    if (quota > 0 && quota < n) n = quota;
    return n > 0 ? n : 1;
}

int lode_cpus(void) { return at_most_quota(cores_of_affinity()); }

int lode_processors(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
    return at_most_quota(known ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN));
}

static size_t meminfo(const char *key) {
    FILE *f = fopen("/proc/meminfo", "r");
    if (!f) return 0;
    char line[128];
    unsigned long long kib = 0;
    const size_t n = strlen(key);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, key, n) == 0 && sscanf(line + n, ": %llu", &kib) == 1) break;
    fclose(f);
    return (size_t)kib * 1024;
}

static size_t file_bytes(const char *path) {
    char line[64];
    if (!read_line(path, line, sizeof line)) return 0;
    char *end;
    const unsigned long long v = strtoull(line, &end, 10);
    return end == line ? 0 : (size_t)v;
}

size_t lode_memory_total(void) {
    const size_t all = meminfo("MemTotal"), limit = file_bytes("/sys/fs/cgroup/memory.max");
    return limit && limit < all ? limit : all;
}

size_t lode_memory_free(void) {
    size_t free_bytes = meminfo("MemAvailable");
    const size_t limit = file_bytes("/sys/fs/cgroup/memory.max"), used = file_bytes("/sys/fs/cgroup/memory.current");
    if (limit && limit > used && limit - used < free_bytes) free_bytes = limit - used;
    return free_bytes;
}

void lode_cpu_name(char *buf, size_t n) {
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    snprintf(buf, n, "CPU");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(buf, n, "%s", colon + 2);
        buf[strcspn(buf, "\n")] = '\0';
        break;
    }
    if (f) fclose(f);
}
#endif
