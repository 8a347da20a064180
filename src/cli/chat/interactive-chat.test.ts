import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError } from '../../../protocol/client/request-error.ts';
import { settled } from '../../../protocol/client/testing/fake-timers.ts';
import { ASKED, openAskedChat, openFakeChat, THINKING } from './interactive-chat-fixture.ts';

test('Enter sends a line with an idempotency key and clears the prompt; a slash command is called as one', async () => {
  const { type, enter, calls, rows } = openFakeChat();
  type('hello');
  enter();
  await settled();
  type('/model fast');
  enter();
  await settled();
  assert.deepEqual(calls, [
    ['workstream.send', { wsId: 'w', message: 'hello', queue: true, idempotencyKey: 'k1' }],
    ['workstream.command', { wsId: 'w', command: '/model fast' }],
  ]);
  assert.deepEqual(rows(), ['› ']);
});

test('a message that was not accepted stays in the prompt, and a line says why', async () => {
  const { type, enter, rows } = openFakeChat(() => {
    throw new Error('Too many messages are queued in this workstream');
  });
  type('hello');
  enter();
  await settled();
  assert.deepEqual(rows(), ['Too many messages are queued in this workstream', '› hello']);
});

test('a slash command cut off by a lost connection is not repeated, and a line says so', async () => {
  const { type, enter, calls, rows } = openFakeChat(() => {
    throw new ConnectionLostError('gone');
  });
  type('/rewind');
  enter();
  await settled();
  assert.deepEqual(calls, [['workstream.command', { wsId: 'w', command: '/rewind' }]]);
  assert.match(rows()[0] ?? '', /may have been carried out/);
  assert.equal(rows().at(-1), '› /rewind');
});

test('a new workstream is made once, although the connection is lost before its answer', async () => {
  const { type, enter, calls, opened } = openFakeChat(() => {
    if (calls.length === 1) throw new ConnectionLostError('gone');
    return { wsId: 'w2' };
  });
  type('/open new');
  enter();
  await settled();
  const call = ['workstream.create', { workdir: '', idempotencyKey: 'k1' }];
  assert.deepEqual([calls, opened], [[call, call], ['w2']]);
});

test('lines entered while one is being sent follow it in order; after a refusal all are in the prompt again', async () => {
  let answer = Promise.withResolvers<unknown>();
  const { type, enter, calls, rows } = openFakeChat(() => answer.promise);
  for (const line of ['one', '/model fast', 'two']) {
    type(line);
    enter();
  }
  type('thr');
  assert.deepEqual(rows(), ['sending: one', 'sending: /model fast', 'sending: two', '› thr']);
  const { resolve } = answer;
  answer = Promise.withResolvers();
  resolve({ status: 'ok' });
  await settled();
  assert.deepEqual(
    calls.map(([method]) => method),
    ['workstream.send', 'workstream.command'],
  );
  answer.reject(new Error('no such model'));
  await settled();
  assert.equal(calls.length, 2);
  assert.deepEqual(rows(), ['no such model', '› /model fast', '  two', '  thr']);
});

test('a backslash, Ctrl-J and a paste add lines without sending', async () => {
  const { chat, type, enter, press, calls, rows } = openFakeChat();
  type('one\\');
  enter();
  type('two');
  press({ name: 'enter' });
  chat.onPaste('three\r\nfour\u001b[31m\n');
  assert.deepEqual([calls, rows()], [[], ['› one', '  two', '  three', '  four', '  ']]);
  enter();
  await settled();
  assert.deepEqual(calls[0]?.[1], { wsId: 'w', message: 'one\ntwo\nthree\nfour', queue: true, idempotencyKey: 'k1' });
});

for (const [key, approved] of [
  ['y', true],
  ['n', false],
] as const)
  test(`${key} decides the approval by its id`, async () => {
    const { type, calls } = await openAskedChat();
    type(key);
    await settled();
    assert.deepEqual(calls, [['approval.resolve', { approvalId: 'a1', approved }]]);
  });

test('a remark is not shown as the message of another client, even in a run that another client started', async () => {
  const { type, enter, tell, printed } = await openAskedChat();
  type('f');
  type('be careful');
  enter();
  type('y');
  await settled();
  const by = { kind: 'principal', id: 'someone' } as const;
  const decided = { approval_id: 'a1', approved: true, feedback: 'be careful', by, always: false, call_ids: ['c1'] };
  const turn = { run_id: 'r1', source: 'person' } as const;
  tell({ type: 'approval_resolved', ...decided });
  tell({ type: 'user_turn', message: 'be careful', ...turn }, { type: 'user_turn', message: 'hurry', ...turn });
  assert.match(printed(), /^› be careful$/m);
  assert.match(printed(), /^› hurry \(from another client\)$/m);
});

test('f asks for a remark, and y or n sends it with the decision', async () => {
  const { type, enter, calls, rows } = await openAskedChat();
  type('f');
  type('yes, but slowly');
  enter();
  assert.deepEqual(rows(), ['Remark: yes, but slowly', 'y approve with it · n deny with it · Esc back', '› ']);
  type('n');
  await settled();
  assert.deepEqual(calls, [['approval.resolve', { approvalId: 'a1', approved: false, feedback: 'yes, but slowly' }]]);
});

test('w takes what should change in a plan; without words it stays as it is', async () => {
  const { timers, type, enter, tell, calls, rows } = openFakeChat();
  const [asked] = ASKED.items;
  assert.ok(asked);
  const plan = { content: '## Goal', round: 1, revisions_left: 5 };
  tell({ ...ASKED, kind: 'plan', items: [{ ...asked, plan }] });
  await timers.advance(1_000);
  assert.match(rows().join('\n'), /y approve · n reject/);
  type('w');
  enter();
  type('w');
  type('smaller steps');
  enter();
  await settled();
  assert.deepEqual(calls, [['approval.resolve', { approvalId: 'a1', approved: false, feedback: 'smaller steps' }]]);
});

test('w takes answers to questions of the agent, one line each, and Esc leaves them', async () => {
  const { timers, type, enter, press, tell, calls, rows } = openFakeChat();
  const [asked] = ASKED.items;
  assert.ok(asked);
  const item = { ...asked, question: { text: 'Which port?', choices: [{ label: '80' }, { label: '443' }] } };
  tell({ ...ASKED, items: [item, { ...item, call_id: 'c2', question: { text: 'Which name?', choices: [] } }] });
  await timers.advance(1_000);
  type('w');
  assert.deepEqual(rows().slice(-5), ['Which port?', '  1 80', '  2 443', 'Enter answer · Esc back', 'answer › ']);
  press({ name: 'escape' });
  type('w');
  type('2');
  enter();
  type('Ada');
  enter();
  await settled();
  const decisions = { c1: { approved: true, choice: '443' }, c2: { approved: true, answer: 'Ada' } };
  assert.deepEqual(calls, [['approval.resolve', { approvalId: 'a1', approved: true, decisions }]]);
});

test('a has to be confirmed', async () => {
  const { type, calls } = await openAskedChat();
  type('an');
  await settled();
  assert.deepEqual(calls, []);
  type('ay');
  await settled();
  assert.deepEqual(calls, [['approval.resolve', { approvalId: 'a1', approved: true, always: true }]]);
});

test('keys typed into a message approve nothing', async () => {
  const { timers, type, tell, calls, rows } = openFakeChat();
  type('wh');
  tell(ASKED);
  await timers.advance(1_000);
  type('y');
  assert.deepEqual(
    [calls, rows().slice(-2)],
    [[], ['A question is pending: to answer it, send or clear the line (Ctrl-C) first.', '› why']],
  );
});

test('a key pressed just after the question appeared approves nothing', async () => {
  const { type, tell, calls } = openFakeChat();
  tell(ASKED);
  type('y');
  await settled();
  assert.deepEqual(calls, []);
});

test('a paste answers no question', async () => {
  const { chat, calls } = await openAskedChat();
  chat.onPaste('y');
  await settled();
  assert.deepEqual(calls, []);
});

test('a question that is decided elsewhere disappears', async () => {
  const { tell, rows } = await openAskedChat();
  assert.equal(rows()[0], 'y approve · n deny · f with a remark · a always · v view all');
  tell({
    type: 'approval_resolved',
    approval_id: 'a1',
    approved: false,
    feedback: '',
    by: { kind: 'principal', id: 'operator' },
    always: false,
    call_ids: ['c1'],
  });
  assert.deepEqual(rows(), ['› ']);
});

test('Ctrl-C cancels the run; a second one soon after leaves the chat', async () => {
  const { tell, interrupt, calls, left } = openFakeChat();
  tell(THINKING);
  interrupt();
  await settled();
  assert.deepEqual([calls, left()], [[['workstream.cancel', { wsId: 'w', force: false }]], 0]);
  interrupt();
  assert.equal(left(), 1);
});

test('a run that does not stop is abandoned by the next Ctrl-C', async () => {
  const { tell, interrupt, calls, timers } = openFakeChat();
  tell(THINKING);
  interrupt();
  await timers.advance(3_000);
  interrupt();
  await settled();
  assert.deepEqual(calls.at(-1), ['workstream.cancel', { wsId: 'w', force: true }]);
});

test('Ctrl-C clears the line; when idle, a second Ctrl-C or Ctrl-D leaves', async () => {
  const { type, interrupt, press, rows, left, timers } = openFakeChat();
  type('never mind');
  interrupt();
  assert.deepEqual([rows(), left()], [['› '], 0]);
  interrupt();
  await timers.advance(2_500);
  interrupt();
  assert.equal(left(), 0);
  interrupt();
  assert.equal(left(), 1);
  type('x');
  press({ name: 'd', ctrl: true });
  press({ name: 'backspace' });
  press({ name: 'd', ctrl: true });
  assert.equal(left(), 2);
});

test('while disconnected, a line says so, and Enter reconnects at once', async () => {
  const { connection, rows, enter, calls } = openFakeChat();
  connection.status = { kind: 'waiting', retryInMs: 1, error: new Error('gone') };
  assert.match(rows()[0] ?? '', /^! Disconnected\./);
  enter();
  assert.deepEqual(calls, [['retryNow', undefined]]);
});

test('commands are suggested while one is typed, and /quit leaves', () => {
  const { type, rows, enter, left, press } = openFakeChat();
  type('/qui');
  assert.deepEqual(rows(), ['  /quit  Leave; a run in progress continues.', '› /qui']);
  press({ name: 'u', ctrl: true });
  type('/quit');
  enter();
  assert.equal(left(), 1);
});
