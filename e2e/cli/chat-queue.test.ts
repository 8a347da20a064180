import assert from 'node:assert/strict';
import { test } from 'node:test';
import { has, isQuiet, openChat, withoutTimes } from '../support/clients/chat-terminal.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

/** The messages of people on the screen, in order. */
const saidIn = (rows: string[]) => withoutTimes(rows).flatMap((row) => /^› (.+)/.exec(row)?.[1] ?? []);

test('messages typed during a run wait on the screen, and can be edited, moved, taken back and used to steer', async () => {
  await using chat = await openChat(daemon);
  const held = stall();
  model.when('survey', [held, callTools({ name: 'list_directory', arguments: {} })]);
  for (const word of ['second', 'third', 'brief']) model.when(word, say(`Answer to ${word}.`));
  chat.type('survey\r');
  await held.reached;
  await chat.until(has('Esc stops it'), 'the run');
  for (const [index, line] of ['thrid', 'never', 'second', 'be brief'].entries()) {
    chat.type(`${line}\r`);
    await chat.until(has(`◷ ${index + 1} ${line}`), line);
  }
  chat.type('/queue edit 1 third\r');
  await chat.until(has('◷ 1 third'), 'the edit');
  chat.type('/queue remove 2\r');
  await chat.until((rows) => has('(taken back) never')(rows) && has('◷ 3 be brief')(rows), 'taken back');
  chat.type('/queue move 2 up\r');
  await chat.until(has('◷ 1 second'), 'the move');
  chat.type('/steer 3\r');
  await chat.until(has('↳ 1 be brief (before the next step)'), 'the steering message');
  chat.type('/queue move 9 up\r');
  await chat.until(has('No message 9 waits.'), 'the refusal');
  chat.type('\x03');
  held.release();
  const rows = await chat.until((seen) => has('Answer to third.')(seen) && isQuiet(seen), 'the last answer');
  assert.deepEqual(saidIn(rows), ['survey', 'be brief', 'second', 'third']);
  assert.ok(!rows.some((row) => row.includes('from another client')));
  chat.type('/queue\r');
  await chat.until(has('(no message waits)'), 'the empty list');
});

test('a new message steers with /steer, and Ctrl-C names the messages that are not sent', async () => {
  await using chat = await openChat(daemon);
  const [held, again] = [stall(), stall()];
  model.when('look around', [held, callTools({ name: 'list_directory', arguments: {} })]);
  model.when('only the letters', again);
  chat.type('look around\r');
  await held.reached;
  await chat.until(has('Esc stops it'), 'the run');
  chat.type('/steer only the letters\r');
  await chat.until(has('↳ 1 only the letters'), 'the steering message');
  held.release();
  await again.reached;
  chat.type('afterwards\r');
  await chat.until(has('◷ 1 afterwards'), 'the waiting message');
  chat.type('\x03');
  const rows = await chat.until((seen) => has('(not sent) afterwards')(seen) && isQuiet(seen), 'the end');
  assert.deepEqual(saidIn(rows), ['look around', 'only the letters']);
  again.release();
});

test('messages that wait for a model that is away are held with the reason, and Enter sends them', async () => {
  await using chat = await openChat(daemon);
  model.when('the first', fail(429, { retryAfterSecs: 250 }));
  chat.type('the first\r');
  await chat.until(has('Enter tries now'), 'the wait');
  chat.type('the second\r');
  await chat.until(has('◷ 1 the second'), 'the waiting message');
  model.when('the first', fail(503, { retryAfterSecs: 400, message: 'nobody home' }));
  model.when('the second', say('Second answer.'));
  chat.type('\r');
  const rows = await chat.until(has('! Not sent: '), 'the reason');
  assert.ok(has('Enter sends the waiting messages now.')(rows) && has('◷ 1 the second')(rows), rows.join('\n'));
  chat.type('/queue edit 1 the second, please\r');
  await chat.until(has('◷ 1 the second, please'), 'the edit');
  chat.type('\r');
  const sent = await chat.until((seen) => has('Second answer.')(seen) && isQuiet(seen), 'the answer');
  assert.deepEqual(saidIn(sent), ['the first', 'the second, please']);
  assert.ok(!has('Not sent')(sent.slice(-4)));
});

test('after kill -9 the waiting messages are still on the screen, and each is answered once', async () => {
  await using other = await startScriptedModel();
  await using killed = await startDaemon({ model: other.url });
  await using chat = await openChat(killed);
  other.when('write', callTools({ name: 'bash', arguments: { command: 'echo ran | tee ran' } }), say('Written.'));
  for (const word of ['north', 'south']) other.when(word, say(`Gone ${word}.`));
  chat.type('write\r');
  await chat.until(has('y approve'), 'the question');
  for (const [index, word] of ['north', 'south'].entries()) {
    chat.type(`go ${word}\r`);
    await chat.until(has(`◷ ${index + 1} go ${word}`), word);
  }
  await killed.kill9();
  await chat.until(has('Disconnected'), 'the loss');
  await killed.restart();
  await chat.until((rows) => has('y approve')(rows) && has('◷ 2 go south')(rows), 'the question and the queue');
  const client = await killed.client();
  await client.call('workstream.approve', { wsId: chat.wsId, approved: true });
  const rows = await chat.until((seen) => has('Gone south.')(seen) && isQuiet(seen), 'the last answer');
  for (const answer of ['Gone north.', 'Gone south.'])
    assert.equal(rows.filter((row) => row === answer).length, 1, answer);
});
