#!/usr/bin/env python3
"""The scenarios of testdata/ on a workspace in an S3 bucket: scenarios.py --bin BIN --endpoint URL --store s3://BUCKET

Each scenario's folder is mirrored: before a call what the scenario has changed on the disk goes to the bucket, after it what
the program has changed there comes back. The program gets the folder's path as its place in the bucket, so that all paths
stay as they are written. What a store cannot have (links, modes, empty folders, …) is listed with its reason in
testdata/object-store-differences.json: those scenarios must fail, all others pass.
"""
import argparse
import concurrent.futures
import json
import os
import sys
import types

import boto3
from botocore.config import Config

HERE = os.path.dirname(os.path.abspath(__file__))
TESTDATA = os.path.join(HERE, '..', '..', 'testdata')
sys.path.insert(0, TESTDATA)
import run  # noqa: E402

AREAS = ['read', 'write', 'edit', 'policy', 'encoding']
# A key cannot have these; the program writes them so.
CONTROLS = {chr(code): f'%{code:02X}' for code in [*range(32), 127]}


def to_key(path):
    return ''.join(CONTROLS.get(character, character) for character in path.lstrip('/'))


def to_path(key):
    for control, code in CONTROLS.items():
        key = key.replace(code, control)
    return '/' + key


class Mirror:
    """A folder on the disk and the objects below its path in a bucket."""

    def __init__(self, client, bucket, folder):
        self.client, self.bucket, self.folder = client, bucket, folder
        self.known = {}
        self.tags = {}

    def on_disk(self):
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, 'rb') as file:
                        found[path] = file.read()
        return found

    def push(self):
        there = self.on_disk()
        for path in self.known.keys() - there.keys():
            self.client.delete_object(Bucket=self.bucket, Key=to_key(path))
        for path, data in there.items():
            if self.known.get(path) != data:
                put = self.client.put_object(Bucket=self.bucket, Key=to_key(path), Body=data)
                self.tags[path] = put['ETag']
        self.known = there

    def pull(self):
        there = {}
        pages = self.client.get_paginator('list_objects_v2').paginate(Bucket=self.bucket, Prefix=to_key(self.folder) + '/')
        for page in pages:
            for found in page.get('Contents', []):
                path = to_path(found['Key'])
                if self.tags.get(path) == found['ETag'] and path in self.known:
                    there[path] = self.known[path]
                else:
                    there[path] = self.client.get_object(Bucket=self.bucket, Key=found['Key'])['Body'].read()
                self.tags[path] = found['ETag']
        for path, data in there.items():
            if self.known.get(path) != data:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if os.path.lexists(path) and not (os.path.isfile(path) and not os.path.islink(path)):
                    # The store knew nothing of this link, pipe or folder.
                    raise run.Fail(f'the store has a file at {run.short(path, 60)}, where the disk has something else')
                run.write_file(path, data)
        self.known = there


def composition(url):
    """The composition of a scenario with the store in the place of the disk."""
    plain = run.composition

    def made(scenario, cwd, spill, tools):
        config = {key: value for key, value in (scenario.get('config') or {}).items() if key not in run.FS_KEYS}
        rows = plain({**scenario, 'config': config, 'sandbox': None}, cwd, spill, tools).split('- name: ')
        settings = {'url': url, 'probe': False, **run.pick(scenario.get('config') or {}, run.FS_KEYS)}
        said = ', '.join(f'{key}: {run.yaml_value(value)}' for key, value in settings.items())
        rows[1] = f"'{run.PLUGIN}fs-object'\n  config: {{{said}}}\n"
        return '- name: '.join(rows)

    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bin', required=True)
    parser.add_argument('--endpoint', required=True)
    parser.add_argument('--store', required=True)
    parser.add_argument('--only', default='')
    parser.add_argument('--jobs', type=int, default=4)
    opt = parser.parse_args()
    bucket = opt.store.removeprefix('s3://')
    client = boto3.client('s3', endpoint_url=opt.endpoint, config=Config(max_pool_connections=32))
    run.composition = composition(opt.store)
    mirrors = {}
    plain_step = run.run_step

    def step(proc, what, cwd, options, uid):
        folder = os.path.dirname(cwd)
        mirror = mirrors.setdefault(folder, Mirror(client, bucket, cwd))
        if 'tool' not in what and 'calls' not in what:
            return plain_step(proc, what, cwd, options, uid)
        mirror.push()
        try:
            return plain_step(proc, what, cwd, options, uid)
        finally:
            mirror.pull()

    run.run_step = step
    with open(os.path.join(TESTDATA, 'object-store-differences.json'), encoding='utf-8') as file:
        differences = {name: row['why'] for row in json.load(file) for name in row['scenarios']}
    options = types.SimpleNamespace(bin=os.path.abspath(opt.bin), bin_for_all=os.path.abspath(opt.bin), peer=None, peer_has=set(),
                                    skip_tags=set(), ignore=set(), keep=False, tools={'read', 'write', 'edit', 'glob', 'grep'},
                                    root='/dev/shm' if os.access('/dev/shm', os.W_OK) else '/tmp')
    os.umask(0o022)
    chosen = []
    for name in ('reference.jsonl', 'cases.jsonl'):
        with open(os.path.join(TESTDATA, name), encoding='utf-8') as file:
            scenarios = [json.loads(line) for line in file if line.strip()]
        chosen += [scenario for scenario in scenarios
                   if scenario.get('area', '').split('.')[0] in AREAS and opt.only in scenario['id']]

    def judge(scenario):
        try:
            run.run_one(scenario, options)
        except (run.Fail, run.Skip) as failure:
            return str(failure)
        except OSError as failure:
            # A name in the store that the disk cannot have, say.
            return f'runner: {failure.strerror}'
        return None

    right = differs = wrong = 0
    with concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
        for scenario, why in zip(chosen, pool.map(judge, chosen)):
            if (why is not None) == (scenario['id'] in differences):
                right, differs = right + (why is None), differs + (why is not None)
            else:
                wrong += 1
                print(f'{scenario["id"]}: {run.short(why, 300) if why else "passes, though it is listed as different"}', flush=True)
    seen = {scenario['id'] for scenario in chosen}
    if not opt.only:
        for name in sorted(differences.keys() - seen):
            wrong += 1
            print(f'{name}: listed as different, but there is no such scenario')
    print(f'{right} scenarios passed, {differs} differ as listed, {wrong} wrong')
    return 1 if wrong or not right else 0


if __name__ == '__main__':
    sys.exit(main())
