"""What the runners of expression suites share: cases go through `sluice eval --batch`, known failures are listed.

A list file has a case and the reason a line, `case  reason` with two
spaces between: a case that fails must be in it, one that passes must not.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_FOLDER = HERE.parents[2] / "shared" / "conformance"


def arguments(suite, document):
    """The program, and the folder of the suite. Where that is not there the runner ends, well unless it was named."""
    if len(sys.argv) < 2:
        sys.exit(document.strip())
    folder = (pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT_FOLDER) / suite
    if not folder.is_dir():
        print(f"left out: there is no {folder}; name the folder that holds {suite}/ as second argument")
        sys.exit(1 if len(sys.argv) > 2 else 0)
    return sys.argv[1], folder


def evaluate(program, language, lines, *options):
    """The answers by id. All lines must be answered, in their order."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([program, "eval", "--lang", language, "--batch", *options], input=text, capture_output=True,
                          text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0 or [answer["id"] for answer in answers] != [line["id"] for line in lines]:
        sys.exit(f"sluice eval --batch ended with {done.returncode} after {len(answers)} of {len(lines)} answers: {done.stderr}")
    return {answer["id"]: answer for answer in answers}


def is_same(wanted, got):
    """Equal as JSON: numbers by what they say, truths never as numbers."""
    if isinstance(wanted, bool) or isinstance(got, bool):
        return wanted is got
    if isinstance(wanted, list) and isinstance(got, list):
        return len(wanted) == len(got) and all(map(is_same, wanted, got))
    if isinstance(wanted, dict) and isinstance(got, dict):
        return wanted.keys() == got.keys() and all(is_same(wanted[key], got[key]) for key in wanted)
    return wanted == got


def known_failures(name):
    lines = (HERE / name).read_text().splitlines()
    pairs = (line.split("  ", 1) for line in lines if line and not line.startswith("#"))
    return {case: reason for case, reason in pairs}


def report(name, verdicts, list_file):
    """Verdicts are None for a case that passed, else what was wrong. Gives the exit code."""
    known = known_failures(list_file)
    failed = {case: wrong for case, wrong in verdicts.items() if wrong is not None}
    for case, wrong in failed.items():
        if case not in known:
            print(f"FAILED {case}: {wrong}")
    stale = [case for case in known if case in verdicts and case not in failed]
    for case in stale:
        print(f"PASSES NOW {case}: take it out of {list_file}")
    print(f"{name}: {len(verdicts) - len(failed)} of {len(verdicts)} passed, "
          f"{sum(case in known for case in failed)} are known to fail")
    return 1 if stale or any(case not in known for case in failed) else 0
