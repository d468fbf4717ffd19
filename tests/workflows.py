#!/usr/bin/env python3
"""Checks .github/workflows.

Each file is YAML with triggers and jobs, each job has a machine, a time limit and steps, and
each step runs commands, which bash can parse, or uses a released action. ci.yml runs, in a
container that has nothing but Debian, the commands in scripts/ that the beginning of
README.md has, character for character and in their order; .ci/run is the last of them.

  workflows.py              checks the files
  workflows.py -self-test   checks that each kind of fault is found

Prints a line for each fault and exits 1 if there is one, 77 without Python's yaml.
"""

import pathlib
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGE = "debian:12"


def check_step(step):
    if not isinstance(step, dict) or ("run" in step) == ("uses" in step):
        return "a step has neither 'run' nor 'uses', or both"
    unknown = set(step) - {"name", "run", "uses", "with", "env", "if"}
    if unknown:
        return f"a step has '{sorted(unknown)[0]}'"
    if "uses" in step and not re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]):
        return f"'{step['uses']}' is no release of an action"
    if "run" in step:
        parsed = subprocess.run(["bash", "-n"], input=step["run"], text=True,
                                capture_output=True)
        if parsed.returncode:
            return f"bash cannot parse {step['run']!r}: {parsed.stderr.strip()}"
    return None


def check_workflow(text):
    """The jobs of a workflow, or a fault."""
    try:
        workflow = yaml.safe_load(text)
    except yaml.YAMLError as error:
        return None, f"no YAML: {str(error).splitlines()[0]}"
    # YAML 1.1 reads `on` as a boolean.
    if not isinstance(workflow, dict) or not (workflow.get("on") or workflow.get(True)):
        return None, "there are no triggers"
    jobs = workflow.get("jobs")
    if not isinstance(jobs, dict) or not jobs:
        return None, "there are no jobs"
    for name, job in jobs.items():
        for key in ("runs-on", "timeout-minutes", "steps"):
            if not job.get(key):
                return None, f"the job '{name}' has no '{key}'"
        for step in job["steps"]:
            if fault := check_step(step):
                return None, f"job '{name}': {fault}"
    return jobs, None


def find_readme_commands(text):
    """The commands in scripts/ that are alone in a block of README.md."""
    return re.findall(r"^```sh\n(scripts/\w+\.sh)\n```$", text, re.MULTILINE)


def check_commands(jobs, commands, ci_run):
    """Whether a job in the bare container runs the commands of the README."""
    if ci_run.splitlines()[1:] != [f'exec "$(dirname "$0")/../{commands[-1]}"']:
        return f".ci/run is not {commands[-1]}"
    for job in jobs.values():
        runs = [step["run"] for step in job["steps"] if "run" in step]
        if job.get("container") == IMAGE and [r for r in runs if r in commands] == commands:
            if "env" in job or any("env" in step for step in job["steps"]):
                return "the commands of README.md get variables"
            return None
    return f"no job in {IMAGE} runs {', '.join(commands)}"


def check(workflows, readme, ci_run):
    for name, text in workflows.items():
        jobs, fault = check_workflow(text)
        if not fault and name == "ci.yml":
            fault = check_commands(jobs, find_readme_commands(readme), ci_run)
        if fault:
            yield f".github/workflows/{name}: {fault}"


def read():
    workflows = {path.name: path.read_text()
                 for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}
    return workflows, (ROOT / "README.md").read_text(), (ROOT / ".ci/run").read_text()


# What is replaced in ci.yml, and what by.
FAULTS = [("jobs:", "jobs"), ("on:\n  push:\n  pull_request:\n", ""),
          ("    timeout-minutes: 90\n", ""), ("actions/checkout@v4", "actions/checkout@main"),
          ("run: scripts/demo.sh", "run: if scripts/demo.sh"),
          ("run: scripts/test.sh", "run: UNITY=ON scripts/test.sh"),
          ("container: debian:12", "container: debian:latest"),
          ("run: scripts/demo.sh", "run: scripts/demo.sh\n        env: { JOBS: 4 }"),
          ("      - name: Run the demo\n        run: scripts/demo.sh\n", ""),
          ("run: scripts/demo.sh", "shell: bash")]


def test_faults():
    workflows, readme, ci_run = read()
    wrong = 0
    for old, new in FAULTS:
        text = workflows["ci.yml"]
        changed = {"ci.yml": text.replace(old, new)}
        if old not in text or not list(check(changed, readme, ci_run)):
            print(f"not found: {new!r} in place of {old!r}")
            wrong = 1
    if not list(check(workflows, readme, ci_run.replace("exec", "export A=1\nexec"))):
        print("not found: a variable in .ci/run")
        wrong = 1
    return wrong


def main():
    if not yaml:
        print("skipped: Python has no module yaml (Debian: python3-yaml)")
        return 77
    if sys.argv[1:] == ["-self-test"]:
        return test_faults()
    faults = list(check(*read()))
    for fault in faults:
        print(fault)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
