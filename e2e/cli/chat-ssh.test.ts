import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { has, isQuiet, STARTLED_MS, withoutTimes } from '../support/clients/chat-terminal.ts';
import { openSshHost } from '../support/clients/ssh-host.ts';
import { openProgram, type TerminalUnderTest } from '../support/clients/terminal.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause } from '../support/deadline.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const NEEDS = await needs('ssh', 'sshd');
const { model, daemon } = await openStage();
const host = NEEDS.skip === undefined ? await openSshHost() : undefined;
after(() => host?.[Symbol.asyncDispose]());

const wordsOf = (options: readonly string[], args: readonly string[]) =>
  host?.words({ options, env: { HEADGATE_HOME: daemon.home }, args }) ?? [];

/** A chat in a new conversation, in a terminal of 80 columns on the near side of the connection. */
async function openChatOverSsh(env: Record<string, string> = {}): Promise<TerminalUnderTest> {
  const { wsId } = await (await daemon.client()).call('workstream.create', {});
  const chat = openProgram({ words: wordsOf(['-tt'], ['chat', '--ws', wsId]), env });
  await chat
    .until((rows) => rows.at(-1) === '›', 'the prompt')
    .catch(async (error: Error) => {
      error.message += `\nsshd: ${await host?.log()}`;
      throw error;
    });
  return chat;
}

const ROW = 'This row is longer than the eighty columns of a terminal with which people work elsewhere.';

test('over ssh at 80 columns: a question, another width, Esc, Ctrl-C and Ctrl-D', NEEDS, async () => {
  await using chat = await openChatOverSsh();
  model.when(
    'run it',
    callTools({ name: 'bash', arguments: { command: 'echo ran > ran.txt && cat ran.txt' } }),
    say(`It ran. ${ROW}`),
  );
  chat.type('run it\r');
  await chat.until(has('y approve'), 'the question');
  await pause(STARTLED_MS);
  chat.type('y');
  const rows = await chat.until((seen) => has('It ran.')(seen) && isQuiet(seen), 'the answer');
  for (const row of ['✔ Approved: bash', '  ran'])
    assert.ok(rows.includes(row), `${row} is not in:\n${rows.join('\n')}`);
  assert.ok(rows.every((row) => row.length <= 80));
  assert.ok((rows.at(-2) ?? '').startsWith('── scripted · '));

  await chat.resize(60);
  chat.type('a draft');
  const narrow = await chat.until((seen) => seen.at(-1) === '› a draft', 'the draft');
  assert.equal(narrow.filter((row) => row.startsWith('› a draft')).length, 1);
  chat.type('\x15');
  await chat.until(isQuiet, 'the empty prompt');
  model.when('once again', say(`Narrow. ${ROW}`));
  chat.type('once again\r');
  const wrapped = await chat.until((seen) => has('Narrow.')(seen) && isQuiet(seen), 'the narrow answer');
  assert.ok(wrapped.every((row) => row.length <= 60));
  assert.ok(wrapped.includes('Narrow. This row is longer than the eighty columns of a'), wrapped.join('\n'));
  await chat.resize(80);

  for (const [key, name] of [
    ['\x1b', 'escape'],
    ['\x03', 'interrupt'],
  ] as const) {
    const waiting = stall();
    model.when(`long ${name}`, [say(`It begins ${name}\n\nand`), waiting]);
    chat.type(`long ${name}\r`);
    await chat.until(has(`It begins ${name}`), 'the beginning');
    chat.type(key);
    const isStopped = (seen: string[]) => has('(stopped)')(seen.slice(-5)) && isQuiet(seen);
    await chat.until(isStopped, `the stop by ${name}`);
    waiting.release();
  }
  chat.type('\x04');
  assert.equal(await chat.exited, 0);
  assert.ok(chat.raw().includes('\x1b[?2004l'), 'the terminal gets its paste mode back');
});

test('over ssh, a terminal that knows little, in the locale C, shows readable rows', NEEDS, async () => {
  await using chat = await openChatOverSsh({ TERM: 'vt100', LANG: 'C' });
  model.when('tell me', say('Grüße: **bold** and\n\n- a list\n'));
  chat.type('tell me\r');
  const rows = withoutTimes(await chat.until((seen) => has('• a list')(seen) && isQuiet(seen), 'the answer'));
  assert.deepEqual(rows.slice(-6), ['', 'Grüße: bold and', '', '• a list', '', '›']);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: other sequences than CSI are text on such a terminal.
  assert.doesNotMatch(chat.raw(), /\x1b[^[78]/);
  chat.type('\x04');
  assert.equal(await chat.exited, 0);
});

test('over ssh without a terminal, each line is a message, and the output is plain text', NEEDS, async () => {
  const { wsId } = await (await daemon.client()).call('workstream.create', {});
  model.when('one', say('the *first*'));
  model.when('two', say('the second'));
  const [program = '', ...words] = wordsOf([], ['chat', '--ws', wsId]);
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  child.stdin.end('say one\nsay two\n');
  assert.equal(await text(child.stdout), '› say one\n\nthe *first*\n\n› say two\n\nthe second\n');
  assert.deepEqual(await closed, [0, null]);
});
