import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { isShellLine, ShellCommands, toOutputFile } from './shell-commands.ts';

const here = { workdir: tmpdir(), shell: '/bin/sh' };

test('a command runs in the folder; its output and exit code become a file', async () => {
  const shell = new ShellCommands(() => undefined);
  const end = await shell.run('!pwd; echo "\u001b[31mred" >&2; exit 3', here);
  assert.deepEqual(end, { command: end.command, output: `${tmpdir()}\nred`, words: 'exit code 3', isDone: false });
  const file = toOutputFile(end);
  assert.equal(file.name, 'output of pwd.txt');
  assert.match(await file.text(), /^\$ pwd;.*\n.*\nred\n\(exit code 3\)\n$/);
  assert.equal(shell.current, undefined);
});

test('of a long output, the end is kept', async () => {
  const { output } = await new ShellCommands(() => undefined).run('!seq 1 20000', here);
  assert.match(output, /^\(\d+ earlier characters left out\)\n/);
  assert.ok(output.endsWith('\n20000') && output.length < 31_000);
});

test('stopping ends the command and what it started', async () => {
  const started = Promise.withResolvers<void>();
  const shell = new ShellCommands(() => started.resolve());
  const run = shell.run('!echo begun; sleep 60 & sleep 60', here);
  await started.promise;
  assert.equal(shell.current?.output, 'begun\n');
  assert.equal(shell.stop(), true);
  assert.equal((await run).words, 'ended by SIGTERM');
  assert.equal(shell.stop(), false);
});

test('a command begins with an exclamation mark and has a word', () => {
  assert.deepEqual(['!ls', '! ls', '!', 'wow!', '!!'].map(isShellLine), [true, true, false, false, true]);
});
