import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../sharing/perception.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const never = () => new Promise(() => undefined);
const UNKNOWN = { code: 'NOT_FOUND', message: 'Unknown workstream' };
const NOWHERE = 'f'.repeat(32);
const write = { scope: 'write' } as const;

const refused = (message: string) => ({ code: 'INVALID_REQUEST', message });

/** Creates a pending approval of the tool `touch`; returns its id. */
async function ask(gateway: WholeGateway, wsId: string, id = 'call_touch'): Promise<string> {
  gateway.puppet.turn(calling('touch', { text: id }, id));
  const before = (await gateway.events(wsId)).filter(({ type }) => type === 'approve_request').length;
  await gateway.call('workstream.send', { wsId, message: 'touch it' });
  await gateway.reaches(wsId, 'approve_request', before + 1);
  const { approvals } = await gateway.call('approval.list', { wsId });
  return approvals[0]?.approvalId ?? assert.fail('nothing waits');
}

test('an unknown workstream is NOT_FOUND for every method', async () => {
  await using gateway = await wholeGateway();
  for (const wsId of [NOWHERE, '', 'main', "' or 1=1"]) {
    assert.deepEqual(await gateway.refusal('workstream.get', { wsId }), UNKNOWN);
    assert.deepEqual(await gateway.refusal('workstream.history', { wsId }), UNKNOWN);
    assert.deepEqual(await gateway.refusal('workstream.update', { wsId, name: 'x' }), UNKNOWN);
    assert.deepEqual(await gateway.refusal('workstream.send', { wsId, message: 'x' }), UNKNOWN);
    assert.deepEqual(await gateway.refusal('workstream.approve', { wsId, approved: true }), UNKNOWN);
    assert.deepEqual(await gateway.refusal('workstream.cancel', { wsId }), UNKNOWN);
    assert.deepEqual(await gateway.refusal('workstream.command', { wsId, command: '/help' }), UNKNOWN);
    assert.deepEqual(await gateway.refusal('workstream.close', { wsId }), UNKNOWN);
  }
});

test('an empty message or command is refused before the workstream is looked up', async () => {
  await using gateway = await wholeGateway();
  assert.deepEqual(
    await gateway.refusal('workstream.send', { wsId: NOWHERE, message: ' \n' }),
    refused('Empty message'),
  );
  assert.deepEqual(
    await gateway.refusal('workstream.command', { wsId: NOWHERE, command: ' ' }),
    refused('Empty command'),
  );
});

test('workstream.send accepts the message and returns the run', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const { status, runId } = await gateway.call('workstream.send', { wsId, message: ' hello ' });
  assert.equal(status, 'ok');
  await gateway.isIdle(wsId);
  const [first] = await gateway.events(wsId);
  assert.deepEqual(first, {
    type: 'user_turn',
    message: 'hello',
    run_id: runId,
    source: 'person',
    seq: 1,
    created_ms: 1_000_000,
  });
});

test('a busy workstream answers busy and sends busy_error, and a repeat with the same key tries again', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn(answered.promise);
  await gateway.call('workstream.send', { wsId, message: 'long' });
  const told: string[] = [];
  const sink = { ready: () => true, write: () => undefined, transient: (json: string) => void told.push(json) };
  gateway.gateway.streams.follow(wsId, 0, { viewer: DAEMON, sink, onEnd: () => undefined });
  const send = () => gateway.call('workstream.send', { wsId, message: 'short', idempotencyKey: 'k1' });
  assert.deepEqual(await gateway.call('workstream.send', { wsId, message: 'short' }), { status: 'busy' });
  assert.deepEqual(await send(), { status: 'busy' });
  const busy = '{"type":"busy_error","message":"Already processing a request. Please wait."}';
  assert.deepEqual(told, [busy, busy]);
  answered.resolve();
  await gateway.isIdle(wsId);
  assert.deepEqual(await send(), { status: 'ok', runId: 'k1' }, 'the key was not used up by being told to wait');
  await gateway.isIdle(wsId);
  assert.deepEqual(await send(), { status: 'ok', runId: 'k1' });
  assert.equal(gateway.puppet.requests.length, 2);
});

test('a message during a pending approval is refused with that reason', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn(calling('touch'));
  await gateway.call('workstream.send', { wsId, message: 'ask' });
  await gateway.reaches(wsId, 'approve_request');
  const told: string[] = [];
  const sink = { ready: () => true, write: () => undefined, transient: (json: string) => void told.push(json) };
  gateway.gateway.streams.follow(wsId, 0, { viewer: DAEMON, sink, onEnd: () => undefined });
  assert.deepEqual(await gateway.call('workstream.send', { wsId, message: 'more' }), { status: 'busy' });
  const message = 'Already processing a request that waits for approval. Approve or deny it first.';
  assert.deepEqual(told, [JSON.stringify({ type: 'busy_error', message })]);
});

test('a repeat of a send gets the first answer: later, after a restart, and after the workstream was closed', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  const send = (message = 'hello') => ({ wsId, message, idempotencyKey: 'k1' });
  assert.deepEqual(await gateway.call('workstream.send', send()), { status: 'ok', runId: 'k1' });
  await gateway.isIdle(wsId);
  await gateway.restart();
  assert.deepEqual(await gateway.call('workstream.send', send()), { status: 'ok', runId: 'k1' });
  await gateway.call('workstream.close', { wsId });
  assert.deepEqual(await gateway.call('workstream.send', send()), { status: 'ok', runId: 'k1' });
  assert.equal((await gateway.refusal('workstream.send', send('other'))).code, 'CONFLICT');
  assert.equal(gateway.puppet.requests.length, 1);
});

test('approve decides the pending approval; without one it changes nothing', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  assert.deepEqual(await gateway.call('workstream.approve', { wsId, approved: true }), { status: 'ok' });
  const approvalId = await ask(gateway, wsId);
  assert.deepEqual(await gateway.call('workstream.approve', { wsId, approved: true }), { status: 'ok', approvalId });
  await gateway.isIdle(wsId);
  const result = (await gateway.events(wsId)).find(({ type }) => type === 'tool_result');
  assert.deepEqual(result, {
    type: 'tool_result',
    call_id: 'call_touch',
    name: 'touch',
    output: 'touched call_touch',
    outcome: 'done',
    is_error: false,
    duration_ms: 0,
  });
});

test('a denial reaches the model with its reason', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  for (const [index, feedback] of ['  use look  ', '', null].entries()) {
    await ask(gateway, wsId, `call_${index}`);
    await gateway.call('workstream.approve', { wsId, approved: false, feedback });
    await gateway.isIdle(wsId);
  }
  const { messages } = await gateway.call('workstream.history', { wsId });
  const results = messages.filter(({ role }) => role === 'tool');
  assert.deepEqual(
    results.map(({ content, denied }) => [content, denied]),
    [
      ['Denied by user: use look', true],
      ['Denied by user', true],
      ['Denied by user', true],
    ],
  );
});

test('an approval id that is not pending here decides nothing', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const stale = await ask(gateway, wsId, 'call_1');
  await gateway.call('workstream.approve', { wsId, approved: true, approvalId: stale });
  await gateway.isIdle(wsId);
  await ask(gateway, wsId, 'call_2');
  const { wsId: other } = await gateway.call('workstream.create', {});
  const elsewhere = await ask(gateway, other, 'call_3');
  const refusals = [stale, elsewhere, 'apr_unknown'].map((approvalId) =>
    gateway.refusal('workstream.approve', { wsId, approved: true, approvalId }),
  );
  assert.deepEqual(
    (await Promise.all(refusals)).map(({ code }) => code),
    ['CONFLICT', 'NOT_FOUND', 'NOT_FOUND'],
  );
  assert.equal((await gateway.call('approval.list', {})).approvals.length, 2);
});

test('a repeated approve never decides the next question', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const approve = () => gateway.call('workstream.approve', { wsId, approved: true, idempotencyKey: 'k1' });
  const approvalId = await ask(gateway, wsId, 'call_1');
  assert.deepEqual(await approve(), { status: 'ok', approvalId });
  await gateway.isIdle(wsId);
  const waiting = await ask(gateway, wsId, 'call_2');
  assert.deepEqual(await approve(), { status: 'ok', approvalId });
  const { approvals } = await gateway.call('approval.list', {});
  assert.deepEqual(
    approvals.map(({ approvalId }) => approvalId),
    [waiting],
  );
});

test('always with an approval enables auto-approve, with a denial it does not', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const skips = async () => (await gateway.call('workstream.get', { wsId })).snapshot.workstream.skipPermissions;
  await ask(gateway, wsId, 'call_1');
  await gateway.call('workstream.approve', { wsId, approved: false, always: true });
  await gateway.isIdle(wsId);
  assert.equal(await skips(), false);
  await ask(gateway, wsId, 'call_2');
  await gateway.call('workstream.approve', { wsId, approved: true, always: true });
  await gateway.isIdle(wsId);
  gateway.puppet.turn(calling('touch', {}, 'call_3'));
  await gateway.call('workstream.send', { wsId, message: 'again' });
  await gateway.isIdle(wsId);
  assert.deepEqual([await skips(), (await gateway.call('approval.list', {})).approvals], [true, []]);
  await gateway.restart();
  assert.equal(await skips(), true);
});

test('auto-approve requires the approve scope', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const denied = {
    code: 'FORBIDDEN',
    message: "auto-approve needs the approve scope and the permission 'approve' or 'tools.approve'",
  };
  assert.deepEqual(await gateway.refusal('workstream.create', { autoApprove: true }, write), denied);
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId, autoApprove: true }, write), denied);
  await gateway.call('workstream.create', { autoApprove: false }, write);
  const row = await gateway.call('workstream.update', { wsId, autoApprove: true });
  assert.equal(row.skipPermissions, true);
  const off = await gateway.call('workstream.update', { wsId, autoApprove: false }, write);
  assert.equal(off.skipPermissions, false);
});

test('cancel returns what it stopped', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const approvalId = await ask(gateway, wsId);
  await gateway.call('chat.send', { sessionKey: 'main', message: 'and then', idempotencyKey: 'k2' });
  const { dropped } = await gateway.call('workstream.cancel', { wsId });
  assert.deepEqual(dropped, {
    wasRunning: true,
    pendingApproval: { approvalId, toolNames: ['touch'], callId: 'call_touch' },
    stoppedTools: [],
    queuedMessages: { count: 1, firstPreview: 'and then' },
  });
  const idle = {
    wasRunning: false,
    pendingApproval: null,
    stoppedTools: [],
    queuedMessages: { count: 0, firstPreview: null },
  };
  assert.deepEqual(await gateway.call('workstream.cancel', { wsId, force: true }), { status: 'ok', dropped: idle });
});

test('a forced cancel abandons the worker and sends only stream_end and idle', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn('part', never());
  const { runId } = await gateway.call('workstream.send', { wsId, message: 'go' });
  await gateway.reaches(wsId, 'content');
  await gateway.call('workstream.cancel', { wsId, force: true });
  const events = await gateway.events(wsId);
  const after = events.slice(events.findIndex(({ type }) => type === 'content') + 1);
  assert.deepEqual(after, [
    { type: 'stream_end' },
    { type: 'ws_state', ws_id: wsId, state: 'idle', run: { run_id: runId, status: 'cancelled' } },
  ]);
});

test('a cancel of a stored workstream that is not loaded is refused with that reason', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  await gateway.call('workstream.close', { wsId });
  assert.deepEqual(await gateway.refusal('workstream.cancel', { wsId }), refused('No session'));
});

test('get shows the state before the turn in progress, and pending approvals', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await gateway.call('workstream.send', { wsId, message: 'first' });
  await gateway.isIdle(wsId);
  const approvalId = await ask(gateway, wsId);
  const { cursor, snapshot } = await gateway.call('workstream.get', { wsId });
  const { workstream, messages, pendingApprovals, status } = snapshot;
  const offset = Number(cursor.split(':')[1]);
  assert.deepEqual((await gateway.events(wsId))[offset]?.type, 'thinking_start');
  assert.deepEqual(
    [workstream.state, messages.map(({ content }) => content), pendingApprovals.map((asked) => asked.approvalId)],
    ['attention', ['first', 'ok', 'touch it'], [approvalId]],
  );
  assert.deepEqual([status?.total_tokens, status?.pct, status?.context_window], [100, 0.1, 100_000]);
});
