import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { has, isQuiet, openChat, STARTLED_MS, withoutTimes } from '../support/clients/chat-terminal.ts';
import { openTerminal } from '../support/clients/terminal.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause } from '../support/deadline.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

test('an answer is shown as formatted Markdown, and the transcript is complete', async () => {
  await using chat = await openChat(daemon);
  model.when('greet', say('# Hello\n\nHere is **one** list:\n\n- a\n', '- b\n'));
  chat.type('please greet me\r');
  const rows = withoutTimes(await chat.until((seen) => has('• b')(seen) && isQuiet(seen), 'the answer'));
  const from = rows.findIndex((row) => row.startsWith('› please'));
  assert.deepEqual(rows.slice(from), [
    '› please greet me',
    '',
    'Hello',
    '',
    'Here is one list:',
    '',
    '• a',
    '• b',
    '',
    '›',
  ]);
  assert.match(rows[0] ?? '', new RegExp(`^Headgate · ${chat.ws} · scripted`));
});

test('one key approves, and exactly the shown command runs', async () => {
  await using chat = await openChat(daemon);
  const command = 'echo ran > ran.txt && cat ran.txt';
  model.when('do it', callTools({ name: 'bash', arguments: { command } }), say('It ran.'));
  chat.type('do it\r');
  await chat.until(has('y approve'), 'the question');
  await pause(STARTLED_MS);
  chat.type('y');
  const rows = await chat.until((seen) => has('It ran.')(seen) && isQuiet(seen), 'the end');
  for (const line of ['? May the agent do this?', '✔ Approved: bash', '  ran']) assert.ok(rows.includes(line), line);
});

test('a wait for the model is shown, and Enter ends it', async () => {
  await using chat = await openChat(daemon);
  model.when('in a hurry', fail(429, { retryAfterSecs: 250, message: 'slow down' }));
  chat.type('in a hurry\r');
  const rows = await chat.until(has('Enter tries now · Esc stops it'), 'the wait');
  assert.ok(rows.some((row) => /is at its rate limit\. Next attempt in 4 min.* \(2 of 6\)\./.test(row)));
  assert.ok(rows.some((row) => /^… .* answered 429: slow down$/.test(row)));
  model.when('in a hurry', say('Quick.'));
  chat.type('\r');
  const end = await chat.until((seen) => has('Quick.')(seen) && isQuiet(seen), 'the answer');
  assert.ok(!end.some((row) => row.includes('slow down')));
});

test('a question that another client decides disappears', async () => {
  await using chat = await openChat(daemon);
  model.when('ask twice', callTools({ name: 'bash', arguments: { command: 'touch never' } }), say('As you wish.'));
  chat.type('ask twice\r');
  await chat.until(has('y approve'), 'the question');
  const client = await daemon.client();
  const { approvals } = await client.call('approval.list', {});
  const asked = approvals.find(({ sessionKey }) => sessionKey !== 'main');
  await client.call('approval.resolve', { approvalId: asked?.approvalId ?? '', approved: false, feedback: 'no need' });
  const rows = await chat.until((seen) => has('As you wish.')(seen) && isQuiet(seen), 'the end');
  assert.ok(rows.includes('✖ Denied: bash — no need (decided elsewhere)'));
});

test('a pending approval is shown as soon as the chat is opened', async () => {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', {});
  model.when('before you came', callTools({ name: 'bash', arguments: { command: 'touch never' } }), say('Fine.'));
  await client.call('workstream.send', { wsId, message: 'before you came' });
  await using chat = openTerminal({ args: ['chat', '--ws', wsId], env: { HEADGATE_HOME: daemon.home } });
  const rows = await chat.until(has('y approve'), 'the question');
  assert.equal(rows.filter((row) => row.startsWith('? May')).length, 1);
});

test('Ctrl-C cancels the answer, Ctrl-D quits', async () => {
  await using chat = await openChat(daemon);
  const waiting = stall();
  model.when('never ends', [say('It begins\n\nand'), waiting]);
  chat.type('never ends\r');
  await chat.until(has('It begins'), 'the beginning');
  chat.type('\x03');
  await chat.until((seen) => has('(stopped)')(seen) && isQuiet(seen), 'the stop');
  chat.type('\x04');
  assert.equal(await chat.exited, 0);
});

test('an incoming answer does not disturb typing', async () => {
  await using chat = await openChat(daemon);
  const waiting = stall();
  model.when('slowly', [say('first line\n\n'), waiting, say('second line\n\nthird line')]);
  chat.type('slowly\r');
  await chat.until(has('first line'), 'the first line');
  chat.type('my next mess');
  await chat.until((rows) => rows.at(-1) === '› my next mess', 'the draft');
  waiting.release();
  const isWhole = (shown: string[]) => has('third line')(shown) && shown.at(-1) === '› my next mess';
  const rows = await chat.until(isWhole, 'the end of the answer above the draft'); // one frame may arrive in several pieces
  assert.equal(rows.filter((row) => row.includes('my next mess')).length, 1);
});

test('kill -9 during an answer: nothing on the screen is lost or duplicated', async () => {
  await using other = await startDaemon({ model: model.url });
  await using chat = await openChat(other);
  const lines = Array.from({ length: 12 }, (_, line) => `Paragraph ${line} of the answer.`);
  const waiting = stall();
  let asked = 0;
  model.onRequest(({ messages }) => {
    if (!JSON.stringify(messages.at(-1)).includes('survive this')) return undefined;
    asked += 1;
    const texts = lines.map((line) => `${line}\n\n`);
    return asked === 1 ? [say(...texts.slice(0, 8)), waiting] : say(...texts);
  });
  chat.type('survive this\r');
  await chat.until(has('Paragraph 7'), 'the first part');
  await other.kill9();
  await chat.until(has('Disconnected'), 'the notice');
  await other.restart();
  const rows = await chat.until((seen) => has('Paragraph 11')(seen) && isQuiet(seen), 'the whole answer');
  assert.deepEqual(
    rows.filter((row) => row.startsWith('Paragraph')),
    lines,
  );
  assert.ok(!rows.some((row) => row.includes('Disconnected')));
  assert.equal(asked, 2);
});

test('the input history is stored, readable only by its owner', async () => {
  await using chat = await openChat(daemon);
  model.when('remember me', say('Yes.'));
  chat.type('remember me\r');
  await chat.until((seen) => has('Yes.')(seen) && isQuiet(seen), 'the answer');
  chat.type('\x04');
  await chat.exited;
  const file = path.join(daemon.home, 'input-history.json');
  assert.equal(JSON.parse(await readFile(file, 'utf8'))[0], 'remember me');
});

test('with piped stdin and stdout each line is a message, and the output is plain text', async () => {
  model.when('one', say('the *first*'));
  model.when('two', say('the second'));
  const { wsId } = await (await daemon.client()).call('workstream.create', {});
  const child = spawn(process.execPath, ['bin/headgate.js', 'chat', '--ws', wsId], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env.PATH, HEADGATE_HOME: daemon.home },
  });
  child.stdin.end('say one\nsay two\n');
  assert.equal(await text(child.stdout), '› say one\n\nthe *first*\n\n› say two\n\nthe second\n');
});

test('with piped stdin, a chat whose workstream is hidden from its person during an answer ends with the reason', async () => {
  const stalled = stall();
  model.when('wait for it', stalled);
  const operator = await daemon.client();
  const person = { username: 'ada', password: 'correct horse' };
  await operator.call('user.create', { ...person, displayName: 'Ada', roles: ['builtin-operator'] });
  const { jwt } = await operator.call('auth.login', person);
  const { wsId } = await operator.call('workstream.create', {});
  const env = { HEADGATE_HOME: daemon.home, HEADGATE_URL: daemon.url, HEADGATE_TOKEN: jwt };
  const chat = runHeadgate(['chat', '--ws', wsId], env, { input: 'wait for it\nand on\n' });
  await stalled.reached;
  await operator.call('workstream.share', { wsId, visibility: 'private' });
  const { code, stdout, stderr } = await chat;
  stalled.release();
  assert.deepEqual([code, stdout, stderr], [1, '› wait for it\n', 'NOT_FOUND: Unknown workstream\n']);
});
