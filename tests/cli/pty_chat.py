#!/usr/bin/env python3
"""pty_chat.py - plays a person at `lode chat` in a pseudo-terminal. usage: pty_chat.py LODE MODEL"""
import os
import pty
import re
import select
import signal
import sys
import termios
import time

lode, model = sys.argv[1:3]


class Talk:
    def __init__(self, env=None, args=()):
        self.seen = b""
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            os.login_tty(self.slave) if hasattr(os, "login_tty") else self.take_tty()
            os.execvpe(lode, [lode, "chat", "--temp", "0", "-c", "200000", "-m", model, *args], {**os.environ, "TERM": "xterm", **(env or {})})

    def take_tty(self):
        import fcntl
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(self.slave, fd)

    def wait_for(self, text, seconds=10):
        end = time.time() + seconds
        while text not in self.plain():
            if time.time() > end or not select.select([self.master], [], [], max(0, end - time.time()))[0]:
                sys.exit(f"waited for {text!r}, saw {self.seen!r}")
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                sys.exit(f"ended while waiting for {text!r}, saw {self.seen!r}")

    def plain(self):
        return re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", self.seen)

    def type(self, text):
        self.seen = b""
        os.write(self.master, text)

    def settle(self, seconds=0.3):
        while select.select([self.master], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                return

    def leave(self, want=0):
        end = time.time() + 10
        while time.time() < end:
            self.settle(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                if code != want:
                    sys.exit(f"exit code {code}, want {want}; saw {self.seen!r}")
                if termios.tcgetattr(self.slave)[:4] != self.before[:4]:
                    sys.exit("the terminal was not restored")
                return
        os.kill(self.pid, signal.SIGKILL)
        sys.exit(f"does not end; saw {self.seen!r}")


LOOP = b" x x x x x x"  # what the scripted model says without end


def ask_and_stop(talk):
    talk.type(b"[[loop]]\n")
    talk.wait_for(LOOP)
    talk.type(b"\x03")
    talk.wait_for(b"> ")
    talk.settle()


# An answer stopped by Ctrl-C does not end the program; commands work; Ctrl-D leaves.
t = Talk()
t.wait_for(b"> ")
ask_and_stop(t)
t.type(b"/help\n")
t.wait_for(b"/quit")
t.settle()
ask_and_stop(t)
t.type(b"/halp\n")
t.wait_for(b"no command")
t.settle()
t.type(b"first line\\\n")
t.settle()
ask_and_stop(t)
t.type(b"caf\xe9 \xe2\x82 \xfe\n") # bytes that are not UTF-8 come through, also out of the history
t.wait_for(b"stray")
t.wait_for(b"> ")
t.settle()
t.type(b"\x1b[A\n")
t.wait_for(b"stray")
t.wait_for(b"> ")
t.settle()
t.type("\u00e9\u4e2d\n".encode()) # the scripted model has no answer to this
t.wait_for(b"> ")
t.settle()
t.type(b"\x04")
t.leave(0)

# White space is no message. A line of a megabyte is read, refused for its length, and the talk goes on.
t = Talk()
t.wait_for(b"> ")
t.type(b"   \n \t\n")
t.settle()
if t.plain().count(b"> ") != 2 or b"Next" in t.plain():
    sys.exit(f"white space was answered: {t.seen!r}")
line = b"a" * 1000000 + b"\n"
os.set_blocking(t.master, False)
t.seen = b""
while line:
    ready = select.select([t.master], [t.master], [], 10)
    if not ready[0] and not ready[1]:
        sys.exit("a long line is not read")
    if ready[0]:
        t.seen = (t.seen + os.read(t.master, 65536))[-10000:]
    if ready[1]:
        try:
            line = line[os.write(t.master, line[:4096]):]
        except BlockingIOError:
            pass
os.set_blocking(t.master, True)
t.wait_for(b"1000001 tokens, the context", 30)
t.wait_for(b"\n> ")
ask_and_stop(t)
t.type(b"\x04")
t.leave(0)

# Ctrl-C clears a line; a second one at the empty prompt leaves.
t = Talk()
t.wait_for(b"> ")
t.settle()
t.type(b"half a line")
t.settle()
t.type(b"\x03")
t.settle()
ask_and_stop(t)
t.type(b"\x03")
t.settle()
t.type(b"\x03")
t.leave(0)

# History: the arrow brings back the last message.
t = Talk()
t.wait_for(b"> ")
ask_and_stop(t)
t.type(b"\x1b[A")
t.wait_for(b"[[loop]]")
t.type(b"\x03")
t.settle()
t.type(b"\x04")
t.leave(0)

# Plain terminals: no colours.
t = Talk({"TERM": "dumb", "NO_COLOR": "1", "LC_ALL": "C"})
t.wait_for(b"> ")
ask_and_stop(t)
if re.search(rb"\x1b\[", t.seen):
    sys.exit(f"colours on a dumb terminal: {t.seen!r}")
t.type(b"\x03")
t.settle()
t.type(b"\x03")
t.leave(0)

# SIGTERM at the prompt: the terminal comes back.
t = Talk()
t.wait_for(b"> ")
t.settle()
os.kill(t.pid, signal.SIGTERM)
t.leave(0)

# A full context forgets the oldest turns, question and answer together (the template insists that they alternate), and
# the talk goes on; what does not fit at all is refused without spoiling the talk.
t = Talk(args=("-c", "128", "-n", "20"))
t.wait_for(b"> ")
forgotten = 0
for turn in range(12):
    t.type(b"y" * 300 + b"\n" if turn == 6 else b"[[loop]]\n")
    t.wait_for(b"use a larger one" if turn == 6 else LOOP)
    t.wait_for(b"\n> ")
    t.settle(0.1)
    forgotten += b"turns forgotten" in t.seen
    if b"alternate" in t.seen:
        sys.exit(f"turn {turn} is not a talk: {t.seen!r}")
if not forgotten:
    sys.exit("nothing was forgotten in twelve turns")
t.type(b"\x04")
t.leave(0)

# An answer goes on in a shortened context, but not for ever.
t = Talk(args=("-c", "128"))
t.wait_for(b"> ")
t.type(b"[[loop]]\n")
t.wait_for(b"older ones are forgotten")
t.wait_for(b"the answer ends here")
t.wait_for(b"\n> ")
t.settle()
t.type(b"\x04")
t.leave(0)

# A full context keeps what --keep says, to the token: the next question, which begins with those 30, is computed from
# there on. A step takes one token here, and the trace counts them: 31 of the question, 129 of the answer's 130, 1 of
# the second question.
trace = os.path.join(os.path.dirname(model), "trace.json")
t = Talk(args=("-c", "128", "-n", "130", "-b", "1", "-t", "1", "--keep", "30", "--trace", trace))
t.wait_for(b"> ")
t.type(b"z" * 29 + b"[[loop]]\n")
t.wait_for(b"49 older ones are forgotten")
t.wait_for(b"\n> ")
t.settle(0.1)
t.type(b"z" * 29 + b"[[eos-first]]\n")
t.wait_for(b"turns forgotten: 1")
t.settle()
t.type(b"\x04")
t.leave(0)
steps = open(trace).read().count('"get_rows embd"')
if steps != 161:
    sys.exit(f"{steps} tokens were computed, want 161")
