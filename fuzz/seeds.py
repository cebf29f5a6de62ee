#!/usr/bin/env python3
"""Puts the inputs that fuzzing starts from into corpus/<target>/, beside what earlier runs found.

The first lines of each target tell the form of its inputs. Cases that a person thought of stand here; the calls of the
JSON-lines front door and some edits are taken from the scenarios in testdata/.
"""

import hashlib
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCENARIOS = HERE.parent / "testdata"
SEPARATOR = b"\xff"
BOM = b"\xef\xbb\xbf"
LARGEST = 255
# Longer ones only slow the fuzzer down.
LONGEST_SEED = 1500


def decode():
    texts = [
        b"", b"a", b"one\r\ntwo\n", BOM, BOM + b"one\n", BOM + BOM, b"\xef\xbb", b"a\0b",
        "\u00e9\u20ac\U0001f600".encode(), "a\ufeffb".encode(), "\u6f22\u5b57\r\n".encode(),
        b"\x80", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80",
        b"\xff", b"a\xc3", b"a\xe2\x82", b"a\xf0\x9f\x98", b"\xe2\x82a", b"\xf0\x9f\x98\xff",
    ]
    # Around the last byte that is searched for a NUL.
    texts += [b"a" * at + b"\0" for at in (8191, 8192)] + [BOM + b"a" * 8190 + b"\0\xc3"]
    for text in texts:
        for sizes in ([], [1], [2, 0, 3]):
            yield bytes([len(sizes), *sizes]) + text


def window():
    texts = [
        "", "\n", "a", "a\nb\nc\n", "a\r\nb\rc\r\r\n\r", "\n\n\n", "abcdefghij\nk\n", "abcde\r\r\r\rf\n",
        "\u6f22\u5b57\u6f22\u5b57\nx", "\U0001f600\U0001f600\U0001f600\r\n\U0001f600",
        "a" * 100 + "\n" + "b" * 100, "\u6f22" * 100 + "\nnext\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n",
    ]
    limits = [
        (1, 200, LARGEST, LARGEST), (2, 2, 5, 80), (1, 3, 1, 40), (3, 1, 0, 0), (1, 0, 4, 9),
        (LARGEST, LARGEST, LARGEST, LARGEST),
    ]
    for text in texts:
        for limit, sizes in zip(limits, ([], [1], [3, 2], [2, 0, 1], [7], [4])):
            yield bytes([*limit, len(sizes), *sizes]) + text.encode()


def literal_edit():
    cases = [
        ("one two", "two", "2"), ("a\r\nb\r\n", "a\nb", "x\ny"), ("a\nb\n", "a\r\nb", "x\r\ny"), ("aaa", "aa", "b"),
        ("a\rb\r\r\nX\n\r\nend", "X", "y"), ("a\nb\r\nx\r\ny\r\n", "a\nb\nx", "p\nq"), ("a b\r\nc\n", "a b", "a\nb"),
        ("\u00e9\u00e9", "\u00e9", "\U0001f600"), ("x", "", "y"), ("x", "x", "x"), ("x\r\n", "x\n", "x\r\n"),
        ("x", "y", "z"), ("\n\n\n\n", "\n\n", "\n"), ("a\n" * 30, "a\na\n", "b\n"), ("x\ny\nz\n", "y\n", ""),
        ("\r\r\n", "\r\n", "\n"), ("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "5\n", "5\n5\n"), ("a" * 5 + "\n" * 5, "\n", ""),
        ("$& \\n", "$&", "$1\\0"), ("a\n\nb\n", "a\n", ""), ("x\n" + "\n" * 9 + "x\nb\n\u00e9", "x\n", "x\n\n"),
    ]
    cases += [(text, args["old_string"], args["new_string"]) for text, args in scenario_edits()]
    for text, old, new in cases:
        for replace_all in (0, 1):
            yield bytes([replace_all]) + SEPARATOR.join(part.encode() for part in (text, old, new))


def resolve():
    paths = [
        "a", "./a", "d/b", "d/../a", "d/e/l", "d//e/./c", "none", "none/deeper", "a/", "a/x", "d/", "d/.", "", " ", ".",
        "..", "/", "//", "~", "~/a", "~/d/up/a", "l", "d/up/d/b", "folder/c", "folder/../b", "file-slash", "dot/b",
        "nowhere", "nowhere/x", "far", "far/c", "deep", "self", "ping/x", "below", "through/b", "absolute/b", "root",
        "chain0", "chain1", "a\0b", "\u00e9", "back\\slash", "x\\..\\a", "../" * 40 + "etc", "n" * 300, "d/" * 200,
        "/none/../usr", "root/usr/lib", "~/root/usr/bin/../lib",
    ]
    folders = ["", "d", "~/d/e", "absolute", "d/up/d", "none", "d/..", "self", "/"]
    for number, path in enumerate(paths):
        for folder in {"", folders[number % len(folders)]}:
            yield folder.encode() + SEPARATOR + path.encode()


def jsonl():
    lines = [
        "", "{", "[]", "null", "7", '"x"', "{}", '{"tool":1}', '{"tool":"t","session":7}', '{"tool":"t","abort":-1}',
        '{"calls":{}}', '{"calls":[1]}', '{"calls":[{"tool":"t"},{}]}', '{"tool":"t","calls":[]}', '{"calls":[],"id":0}',
        '{"tool":"\\ud800"}', '{"tool":"read","id":{"a":[1,1e400]}}', '{"id":1,"id":2,"tool":"read","args":[]}',
        '\ufeff{"tool":"nope","id":null}', '{"tool":"read","args":{"file_path":"a.txt"},"abort":"pre"}',
        '{"tool":"read","args":{"file_path":"a.txt","offset":2,"limit":1e3},"abort":1e18,"id":-0.0}',
        '{"tool":"read","args":{"file_path":"a.txt"}}\n'
        '{"tool":"edit","args":{"file_path":"a.txt","old_string":"two","new_string":"2\\r\\n2"},"id":1}',
        '{"tool":"read","args":{"file_path":"crlf.txt"}}\n'
        '{"tool":"write","args":{"file_path":"crlf.txt","content":"x\\n"},"id":"\\u0000"}',
        '{"tool":"read","session":null,"args":{"file_path":"/w/d/long"}}\n'
        '{"tool":"edit","session":"x","args":{"file_path":"d/long","old_string":"x","new_string":"","replace_all":true}}',
        '{"session":"b","calls":[{"tool":"read","args":{"file_path":"binary"}},{"tool":"write","args":{"file_path":'
        '"new/file","content":""},"id":2},{"tool":"read","args":{"file_path":"new/file"},"session":null}],"id":[]}',
        '{"calls":[' + ",".join(f'{{"tool":"read","args":{{"file_path":"a.txt","offset":{n}}},"id":{n}}}' for n in range(12))
        + "]}",
        "[" * 200, '{"tool":"read","args":' + '{"a":' * 130 + "1" + "}" * 131,
    ]
    yield from (line.encode() for line in lines)
    yield b'{"tool":"\xff"}\n{"tool":"read"}'
    yield from scenario_calls()


def scenarios():
    for name in ("cases.jsonl", "reference.jsonl"):
        # Not `splitlines`, which cuts at more than newlines.
        with open(SCENARIOS / name, encoding="utf-8", newline="\n") as lines:
            yield from map(json.loads, lines)


def scenario_edits():
    """Every tenth edit of a file that the scenario sets up as short text."""
    edits = []
    for scenario in scenarios():
        files = {entry["path"]: entry.get("text") for entry in scenario.get("setup", [])}
        for step in scenario["steps"]:
            args = step.get("args")
            if step.get("tool") != "edit" or not isinstance(args, dict):
                continue
            text = files.get(args.get("file_path"))
            words = [text, args.get("old_string"), args.get("new_string")]
            if all(is_text(word) for word in words) and sum(map(len, words)) < LONGEST_SEED:
                edits.append((text, args))
    return edits[::10]


def scenario_calls():
    """Every fourth scenario of short calls, as its lines would be."""
    seeds = []
    for scenario in scenarios():
        calls = [step for step in scenario["steps"] if step.get("tool") in ("read", "write", "edit")]
        text = "\n".join(json.dumps(call) for call in calls[:4]).replace("{CWD}", "/w")
        if calls and len(text) < LONGEST_SEED // 2:
            seeds.append(text.encode())
    return seeds[::4]


def is_text(word):
    return isinstance(word, str) and not any("\ud800" <= c <= "\udfff" for c in word)


def main():
    total = 0
    for target in (decode, window, literal_edit, resolve, jsonl):
        folder = HERE / "corpus" / target.__name__
        folder.mkdir(parents=True, exist_ok=True)
        seeds = sorted(set(target()))
        for seed in seeds:
            (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
        size = sum(map(len, seeds))
        total += size
        print(f"{target.__name__}: {len(seeds)} seeds, {size} bytes")
    print(f"together: {total} bytes")


main()
