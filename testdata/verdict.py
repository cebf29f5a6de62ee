#!/usr/bin/env python3
"""Judges a report of run.py: verdict.py REPORT.json

Every scenario must have passed, but for the recordings that a decision contradicts. Those must fail, and in exactly the
way that was decided. Ends with `N passed, N failed`; exit code 0 only if nothing failed.
"""
import json
import os
import sys

# A file that was there, was deleted and is written again gets the mode of a new file; the reference makes it private.
MODE = "mode at 1: want '600' got '644'"
DECIDED = {
    # The reference drops the set-id bit; write.mode-kept-3 and the decision keep it.
    'edit.mode-preserved': "final suid.mode at 0: want '755' got '4755'",
    'policy.bare-write-deleted': f'final a.txt.{MODE}',
    'write.deleted-after-read': f'final a.txt.{MODE}',
    'write.deleted-with-parent': f'final dir/a.txt.{MODE}',
}
# Only root can change owners; as anybody else these scenarios cannot be set up.
SKIPPABLE = () if os.geteuid() == 0 else ('needs root',)


def verdict(outcome):
    """'passed', 'skipped', 'decided' or 'failed'."""
    status, why = outcome['status'], outcome['why']
    decided = DECIDED.get(outcome['id'])
    if decided is not None:
        return 'decided' if (status, why) == ('failed', decided) else 'failed'
    if status == 'skipped' and why in SKIPPABLE:
        return 'skipped'
    return 'passed' if status == 'passed' else 'failed'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding='utf-8') as file:
        outcomes = json.load(file)
    judged = {'passed': [], 'skipped': [], 'decided': [], 'failed': []}
    for outcome in outcomes:
        judged[verdict(outcome)].append(outcome)
    for outcome in judged['failed']:
        print(f"{outcome['id']}: {outcome['status']}: {outcome['why'] or 'no longer differs from the recording'}")
    missing = sorted(DECIDED.keys() - {outcome['id'] for outcome in outcomes})
    for name in missing:
        print(f'{name}: not run')
    print(f"{len(judged['decided'])} differ from their recording, as decided")
    failed = len(judged['failed']) + len(missing)
    skipped = f", {len(judged['skipped'])} skipped" if judged['skipped'] else ''
    print(f"{len(judged['passed'])} passed, {failed} failed{skipped}")
    return 1 if failed or not judged['passed'] else 0


if __name__ == '__main__':
    sys.exit(main())
