import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openTerminal } from '../support/clients/terminal.ts';
import { openStage } from '../support/daemon/stage.ts';

const { daemon } = await openStage();

/** Runs `headgate` for a program that closes its end of the pipe at once, as in `headgate … | true`. */
function openUnread(words: readonly string[]) {
  const child = spawn(process.execPath, ['bin/headgate.js', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HEADGATE_HOME: daemon.home },
  });
  child.stdout.destroy();
  const said = { text: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.text += text;
  });
  return { child, said, exited: once(child, 'close').then(([code]): unknown => code) };
}

test('a command whose reader closes the pipe ends with 141 and says nothing, whether or not it talks to the daemon', async () => {
  for (const words of [['completion', 'bash'], ['doctor'], ['call', 'health']]) {
    const { exited, said } = openUnread(words);
    assert.deepEqual([await exited, said.text], [141, ''], words.join(' '));
  }
});

test('a node goes on when the reader of its output closes the pipe', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-node-'));
  const client = await daemon.client();
  const asks = Promise.withResolvers<void>();
  client.on('node.pair.requested', () => asks.resolve());
  const words = ['node', 'run', '--gateway', daemon.url, '--home', folder.path];
  const { child, exited } = openUnread(words);
  await Promise.race([asks.promise, exited.then((code) => assert.fail(`it ended with ${code}`))]);
  child.kill('SIGTERM');
  assert.equal(await exited, 0);
});

test('Ctrl-D at the question for a password cancels it', async () => {
  await using terminal = openTerminal({ args: ['user', 'add', 'ada'], env: { HEADGATE_HOME: daemon.home } });
  await terminal.until((rows) => rows.some((row) => row.includes('New password')), 'the question');
  terminal.type('\x04');
  assert.equal(await terminal.exited, 2);
  assert.match(terminal.raw(), /Cancelled; nothing was changed\.\s*$/);
  assert.doesNotMatch(terminal.raw(), /AbortError/);
});
