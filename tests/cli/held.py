#!/usr/bin/env python3
"""held.py - runs a command and stops it for a moment once it has mapped FILE, or, when FILE ends in .part, written it;
FILE (or --shrink OTHER) is cut to 3,000 bytes meanwhile, or N times Ctrl-C is sent. Needs /proc.
usage: held.py [--shrink OTHER | --interrupt N] FILE COMMAND...; exits as the command does, 128 + n after signal n."""
import os, signal, subprocess, sys, time

args, shrink, interrupts = sys.argv[1:], None, 0
if args[0] == "--shrink": shrink, args = args[1], args[2:]
if args[0] == "--interrupt": interrupts, args = int(args[1]), args[2:]
file, command = args[0], args[1:]
shrink = shrink or file


def reached(pid):
    if file.endswith(".part"):
        return os.path.exists(file)
    with open(f"/proc/{pid}/maps") as maps:
        return file in maps.read()


p = subprocess.Popen(command)
end = time.time() + 20
while p.poll() is None and time.time() < end and not reached(p.pid):
    pass
if p.poll() is None:
    p.send_signal(signal.SIGSTOP)
    if not interrupts:
        os.truncate(shrink, 3000)
    for _ in range(interrupts): # each is taken before the next is sent
        p.send_signal(signal.SIGINT)
        p.send_signal(signal.SIGCONT)
        time.sleep(0.002)
        if p.poll() is None: p.send_signal(signal.SIGSTOP)
    p.send_signal(signal.SIGCONT)
code = p.wait(30)
sys.exit(code if code >= 0 else 128 - code)
