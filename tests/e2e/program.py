"""The program under test, and what tests do with it."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE", str(ROOT / "build/release/bin/sluice"))
TIMEOUT = 60

OK, FAILED, INVALID, NOT_FOUND, UNAVAILABLE, WAITING, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own, which is also where the program keeps what is temporary."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        self.data = str(self.folder / "data")

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def environment(self):
        return {**os.environ, "TMPDIR": str(self.temporary)}

    def sluice(self, *arguments, code=OK, stdin="", folder=None):
        """Runs the program to its end, here or in a folder, and expects an exit code."""
        done = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, text=True,
                              timeout=TIMEOUT, env=self.environment(), check=False, cwd=folder)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def result(self, *arguments, **options):
        """The one JSON value that a run prints."""
        return json.loads(self.sluice("run", *arguments, **options).stdout)

    def start(self, *arguments):
        """Begins the program; whatever becomes of the test, it does not stay."""
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.environment())
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def wait_for(self, process, **wanted):
        """Reads progress until a line has these members."""
        seen = []
        for line in process.stderr:
            seen.append(line)
            told = json.loads(line) if line.startswith("{") else {}
            if wanted.items() <= told.items():
                return told
        self.fail(f"the program ended without telling {wanted}:\n{''.join(seen)}")
        return None

    def interrupt(self, process):
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=TIMEOUT)
        return process.returncode, output, errors

    def until(self, claim, what):
        deadline = time.monotonic() + TIMEOUT
        while not claim():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)


def event(number, kind="item", **members):
    return json.dumps({"specversion": "1.0", "id": f"e{number}", "source": "test", "type": kind, **members}) + "\n"


def progress_of(done):
    """The JSON lines of `run --json`."""
    return [json.loads(line) for line in done.stderr.splitlines()]
