#!/usr/bin/env python3
"""What a model pays for results: tokens.py --bin PATH --tokenizer tokenizer.json

Runs ten recordings of the reference against the program under its built-in composition, so with hints, and prints a Markdown
table: tokens of all results of the recording as the reference gave them, and as the program gives them. Wants the package
`tokenizers` and the `tokenizer.json` of a model; nothing is fetched.
"""
import argparse
import json
import os
import subprocess
import tempfile

import run
from tokenizers import Tokenizer

TEN = ['read.window.default-2001-pages', 'read.longline.2001', 'read.content.lang-hints', 'read.path.absolute',
       'write.overwrite-adjacent-hunks', 'edit.many-hunks-meta', 'edit.ambiguous-many', 'policy.stale-then-reread',
       'glob.args', 'grep.args']


def results(scenario, program):
    """The recorded texts and the program's, in order."""
    with tempfile.TemporaryDirectory() as base:
        cwd = os.path.join(base, 'w')
        os.mkdir(cwd)
        for entry in scenario['setup']:
            run.setup_entry(cwd, entry)
        process = subprocess.Popen([program, 'run', '--cwd', cwd], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        recorded, given = [], []
        for step, expected in zip(scenario['steps'], scenario['expect']):
            if 'op' in step:
                run.outside(cwd, step)
                continue
            process.stdin.write(json.dumps(run.expand(step, cwd)) + '\n')
            process.stdin.flush()
            # The name of the folder is another one each time, and so would be its tokens.
            given.append(json.loads(process.stdout.readline())['content'].replace(cwd, '/w'))
            recorded.append(run.expand(expected['content'], '/w'))
        process.stdin.close()
        process.wait(20)
        return recorded, given


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument('--bin', required=True)
    arguments.add_argument('--tokenizer', required=True)
    options = arguments.parse_args()
    tokenizer = Tokenizer.from_file(options.tokenizer)
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, 'reference.jsonl'), encoding='utf-8') as file:
        scenarios = {scenario['id']: scenario for scenario in map(json.loads, filter(str.strip, file))}
    count = lambda texts: sum(len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts)
    print('| recording | results | reference | ours | of that, hints |\n|---|---:|---:|---:|---:|')
    for name in TEN:
        recorded, given = results(scenarios[name], os.path.abspath(options.bin))
        hints = [now[len(before):] for before, now in zip(recorded, given) if now != before and now.startswith(before)]
        other = [now for before, now in zip(recorded, given) if not now.startswith(before)]
        note = f' ({len(other)} worded otherwise)' if other else ''
        print(f'| `{name}`{note} | {len(given)} | {count(recorded)} | {count(given)} | {count(hints)} |')


if __name__ == '__main__':
    main()
