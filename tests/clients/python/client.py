"""A real client: the Python MCP SDK against a built dsh-fs, over both transports.

    client.py BIN ERA      ERA is `legacy` (with `initialize`) or a version without it, such as 2026-07-28
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

SPARSE_BYTES = 64 << 30
COMPOSITION = """
- name: dsh-fs-sandbox
  config: { mode: read-only }
- name: dsh-fs-observation-policy
- name: dsh-tool-fs
"""


class Checks:
    """Says what was checked, and remembers whether anything failed."""

    def __init__(self, who):
        self.who, self.passed, self.failed = who, 0, 0

    def check(self, ok, what, seen=''):
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        print(f'{"ok  " if ok else "FAIL"} {self.who}: {what}' + ('' if ok else f': {seen!r}'), flush=True)


def text(result):
    return '\n'.join(block.text for block in result.content)


def code(result):
    return ((result.meta or {}).get('dsh-fs/error') or {}).get('code')


async def lists_the_tools(client, c):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    c.check({'edit', 'glob', 'grep', 'read', 'write'} == set(tools), 'lists the five tools', sorted(tools))
    c.check(list(tools) == sorted(tools), 'in the order of their names', list(tools))
    read, edit, grep = tools['read'], tools['edit'], tools['grep']
    c.check(list(edit.input_schema['properties']) == ['file_path', 'old_string', 'new_string', 'replace_all',
                                                      'sandbox_permissions', 'justification'],
            'schemas keep the order of their keys', list(edit.input_schema['properties']))
    c.check(read.annotations.read_only_hint is True and read.annotations.open_world_hint is False,
            'read is read-only, in a closed world', read.annotations)
    c.check(grep.annotations.read_only_hint is True, 'grep is read-only', grep.annotations)
    c.check(edit.annotations.read_only_hint is False and edit.annotations.destructive_hint is True,
            'edit is destructive', edit.annotations)


async def reads_and_edits(client, c, folder):
    path = folder / 'notes.txt'
    path.write_text('alpha\nbeta\n')
    refused = await client.call_tool('edit', {'file_path': 'notes.txt', 'old_string': 'beta', 'new_string': 'gamma'})
    c.check(refused.is_error and code(refused) == 'FS_NOT_OBSERVED', 'an edit before a read is refused', text(refused))
    c.check(path.read_text() == 'alpha\nbeta\n', 'and changed nothing', path.read_text())
    read = await client.call_tool('read', {'file_path': 'notes.txt'})
    c.check(not read.is_error and '2: beta' in text(read), 'reads', text(read))
    edit = await client.call_tool('edit', {'file_path': 'notes.txt', 'old_string': 'beta', 'new_string': 'gamma'})
    c.check(not edit.is_error, 'recovers: edits after the read', text(edit))
    c.check(path.read_text() == 'alpha\ngamma\n', 'the file is changed', path.read_text())
    card = (edit.meta or {}).get('dsh-fs/card') or {}
    c.check('diffs' in card, 'the result carries its diff card', card)


async def searches(client, c, folder):
    (folder / 'src').mkdir()
    for number in range(300):
        (folder / 'src' / f'f{number:03}.txt').write_text(f'needle {number}\n')
    grep = await client.call_tool('grep', {'pattern': r'needle 7\d$'})
    found = [f'src/f{number:03}.txt\nLine 1: needle {number}' for number in range(70, 80)]
    c.check(text(grep) == 'Found 10 matches\n\n' + '\n\n'.join(found), 'greps in path order', text(grep))
    glob = await client.call_tool('glob', {'pattern': 'src/f00*'})
    c.check(sorted(text(glob).splitlines()) == [f'src/f00{number}.txt' for number in range(10)], 'globs', text(glob))
    capped = await client.call_tool('grep', {'pattern': 'needle'})
    kept = text(capped).rpartition('stored at: ')[2].partition('. Use read')[0]
    c.check(text(capped).startswith('Found 250 of 300 matches\n'), 'shows a page of many', text(capped)[-300:])
    rest = await client.call_tool('grep', {'pattern': 'needle 299', 'path': kept})
    c.check('Line 901: Line 1: needle 299' in text(rest), 'the rest can be searched where it is kept', text(rest))
    wrong = await client.call_tool('grep', {'pattern': '('})
    c.check(wrong.is_error and code(wrong) == 'SEARCH_INVALID_PATTERN', 'a bad pattern is an error', text(wrong))

    answers = {}

    async def one(number):
        answers[number] = text(await client.call_tool('grep', {'pattern': f'needle {number}$'}))

    async with anyio.create_task_group() as tasks:
        for number in range(100):
            tasks.start_soon(one, number)
    right = sum(answers[n] == f'Found 1 match\n\nsrc/f{n:03}.txt\nLine 1: needle {n}' for n in range(100))
    c.check(right == 100, 'a hundred searches at once are answered', right)


async def cancels_a_long_read(client, c, folder):
    with open(folder / 'sparse', 'wb') as file:
        file.write(b'0123456\n' * 1024)
        file.truncate(SPARSE_BYTES)
    answered = []

    async def long_read():
        answered.append(await client.call_tool('read', {'file_path': 'sparse'}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(long_read)
        await anyio.sleep(0.3)
        c.check(not answered, 'the long read is under way', answered and text(answered[0])[:200])
        started = time.monotonic()
        tasks.cancel_scope.cancel()
    # An edit runs alone, so it answers only once the read has really stopped.
    with anyio.move_on_after(20):
        edit = await client.call_tool('edit', {'file_path': 'notes.txt', 'old_string': 'alpha', 'new_string': 'omega'})
        took = time.monotonic() - started
        c.check(not edit.is_error, 'the call after the cancelled one is made', text(edit))
        c.check(took < 1.0, 'within one second', f'{took:.3f} s')
        return
    c.check(False, 'the call after the cancelled one is made', 'no answer in 20 s')


async def asks_the_person(c, binary, era):
    """A call may leave its sandbox only if the person at the client says yes, to that one call."""
    wider = {'sandbox_permissions': 'workspace-write', 'justification': 'the notes belong there'}
    refused = {
        'decline': 'the user rejected escalating this operation to "workspace-write"',
        'cancel': 'approval for escalating to "workspace-write" was cancelled',
        None: 'sandbox escalation to "workspace-write" requires approval, but no approval channel is available',
    }
    for action in ('accept', 'decline', 'cancel', None):
        questions = []

        async def answer(context, params):
            questions.append(params.message)
            return ElicitResult(action=action, content={} if action == 'accept' else None)

        with tempfile.TemporaryDirectory() as name:
            workspace = (Path(name) / 'work').resolve()
            workspace.mkdir()
            (Path(name) / 'compose.yaml').write_text(COMPOSITION)
            server = StdioServerParameters(
                command=binary, env=dict(os.environ),
                args=['mcp', '--cwd', str(workspace), '--compose', str(Path(name) / 'compose.yaml')])
            async with Client(server, mode=era, elicitation_callback=answer if action else None) as client:
                write = {'file_path': 'a.txt', 'content': 'mine\n'}
                denied = await client.call_tool('write', write)
                c.check(code(denied) == 'FS_SANDBOX_DENIED' and not questions, 'a write in read-only mode is denied',
                        text(denied))
                result = await client.call_tool('write', {**write, **wider})
                written = (workspace / 'a.txt').exists()
                if action == 'accept':
                    c.check(not result.is_error and written, 'accept: the file is written', text(result))
                    path = json.dumps(str(workspace / 'a.txt'))
                    c.check(len(questions) == 1 and path in questions[0], 'the question names the path', questions)
                    again = await client.call_tool('write', {**write, 'file_path': 'b.txt'})
                    c.check(code(again) == 'FS_SANDBOX_DENIED', 'a yes holds for one call', text(again))
                else:
                    c.check(text(result) == f'Error: {refused[action]}' and not written,
                            f'{action or "no support"}: the call is refused', text(result))
                    c.check(len(questions) == bool(action), 'the person was asked where that is possible', questions)


@contextmanager
def served(binary, folder, c):
    """The URL of a server over HTTP, for as long as it is wanted."""
    server = subprocess.Popen([binary, 'mcp', '--http', '127.0.0.1:0', '--cwd', str(folder)],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        ready = next(line for line in server.stderr if line.startswith('listening on '))
        yield ready.removeprefix('listening on ').strip()
        server.send_signal(signal.SIGTERM)
        status = server.wait(timeout=20)
        c.check(status == 0, 'the server ends when it is told to', status)
    finally:
        server.kill()
        server.wait()


async def keeps_sessions_apart(urls, era, c, folder):
    """`urls` are those of two sessions; an older client's is its own, whatever the URL."""
    (folder / 'shared.txt').write_text('alpha\nbeta\n')
    edit = {'file_path': 'shared.txt', 'old_string': 'beta', 'new_string': 'gamma'}
    async with Client(urls[0], mode=era) as one, Client(urls[1], mode=era) as other:
        read = await one.call_tool('read', {'file_path': 'shared.txt'})
        c.check(not read.is_error, 'one session reads', text(read))
        refused = await other.call_tool('edit', edit)
        c.check(code(refused) == 'FS_NOT_OBSERVED', 'that does not license another one', text(refused))
        edited = await one.call_tool('edit', edit)
        c.check(not edited.is_error, 'the session that has read may edit', text(edited))


async def without_a_session(url, era, c, folder):
    (folder / 'shared.txt').write_text('alpha\nbeta\n')
    async with Client(url, mode=era) as client:
        read = await client.call_tool('read', {'file_path': 'shared.txt'})
        c.check(not read.is_error, 'without a session one may read', text(read))
        refused = await client.call_tool('write', {'file_path': 'shared.txt', 'content': 'mine\n'})
        c.check(code(refused) == 'FS_NOT_OBSERVED', 'but not change what is there', text(refused))
        c.check('Dsh-Session' in text(refused), 'and is told how to name a session', text(refused))


async def does_it_all(server, era, c, folder):
    async with Client(server, mode=era) as client:
        await lists_the_tools(client, c)
        await reads_and_edits(client, c, folder)
        await searches(client, c, folder)
        await cancels_a_long_read(client, c, folder)


async def main(binary, era):
    stdio, http = Checks(f'python {era} stdio'), Checks(f'python {era} http')
    with tempfile.TemporaryDirectory() as name:
        server = StdioServerParameters(command=binary, args=['mcp', '--cwd', name], env=dict(os.environ))
        await does_it_all(server, era, stdio, Path(name))
    await asks_the_person(stdio, binary, era)
    with tempfile.TemporaryDirectory() as name, served(binary, name, http) as url:
        # An older client has a session of its own without naming one.
        sessions = [url, url] if era == 'legacy' else [f'{url}/one', f'{url}/other']
        await does_it_all(sessions[0], era, http, Path(name))
        await keeps_sessions_apart(sessions, era, http, Path(name))
        if era != 'legacy':
            await without_a_session(url, era, http, Path(name))
    for c in (stdio, http):
        print(f'{c.who}: {c.passed} passed, {c.failed} failed', flush=True)
    return 1 if stdio.failed or http.failed else 0


if __name__ == '__main__':
    sys.exit(anyio.run(main, *sys.argv[1:3]))
