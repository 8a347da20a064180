import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayError } from '../../../protocol/errors.ts';
import type { Decision } from '../../agent/run/journal.ts';
import type { ToolOutcome } from '../../agent/tools/tool.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { never, shapes, startedWorkstreams } from './workstreams-fixture.ts';

const YES: Decision = { approved: true, feedback: '', always: false, by: { kind: 'principal', id: 'ada' } };
const isUnavailable = (error: GatewayError) => error.code === 'UNAVAILABLE';

type Fixture = Awaited<ReturnType<typeof startedWorkstreams>>;

const rowsOf = ({ parts }: Fixture) =>
  parts.store.db.selectFrom('runs').select(['status', 'request_json']).orderBy('accepted_ms').execute();
const statusesOf = async (fixture: Fixture) =>
  (await rowsOf(fixture)).map(({ status, request_json }) => `${JSON.parse(request_json).message} ${status}`);

test('runs that wait are started in the order they were accepted, one at a time', async () => {
  await using fixture = await startedWorkstreams();
  const handles = await Promise.all(['a', 'b', 'c'].map((message) => fixture.send(message)));
  const ended = await Promise.all(handles.map((handle) => handle?.ended));
  assert.deepEqual(
    ended.map((result) => result?.status),
    ['ok', 'ok', 'ok'],
  );
  assert.deepEqual(fixture.seen.slice(1), [
    ...['running a', 'ended a: ok', 'running b', 'ended b: ok', 'running c', 'ended c: ok'],
  ]);
});

test('a busy workstream refuses, or queues ten and refuses the eleventh', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn(never());
  await fixture.send('first');
  assert.equal(await fixture.send('refused', { ifIdle: true }), undefined);
  for (let index = 0; index < 10; index += 1) await fixture.send(`q${index}`);
  await assert.rejects(fixture.send('eleventh'), { code: 'BUSY', retryAfterMs: 5_000 });
  assert.equal((await statusesOf(fixture)).length, 11);
});

test('who hears that a run is over finds the workstream free', async () => {
  await using fixture = await startedWorkstreams();
  const free: boolean[] = [];
  fixture.parts.events.onAppended((_wsId, entries) => {
    if (!entries.some(({ json }) => json.includes('"run":'))) return;
    setImmediate(() => free.push(!fixture.main().busy)); // the soonest that a client's next call can arrive
  });
  await (await fixture.send('a'))?.ended;
  await turnsUntil(() => free.length > 0, 'the end');
  assert.deepEqual(free, [true]);
});

test('a message that could not be stored leaves the place free and nothing behind', async () => {
  await using fixture = await startedWorkstreams();
  fixture.parts.tap.fails = () => true;
  await assert.rejects(fixture.send('lost'), isUnavailable);
  fixture.parts.tap.fails = undefined;
  assert.deepEqual(
    [fixture.main().busy, fixture.main().data.messageCount, fixture.main().data.title],
    [false, 0, null],
  );
  assert.equal((await (await fixture.send('kept', { ifIdle: true }))?.ended)?.status, 'ok');
  assert.deepEqual(fixture.puppet.requests[0]?.messages, [{ role: 'user', content: 'kept' }]);
});

test('a message that could not be queued takes no place in the queue', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn(never());
  await fixture.send('first');
  await turnsUntil(() => fixture.main().data.state === 'thinking', 'the model is asked');
  fixture.parts.tap.fails = () => true;
  await assert.rejects(fixture.send('lost'), isUnavailable);
  fixture.parts.tap.fails = undefined;
  assert.deepEqual((await fixture.main().cancel({ force: false })).queuedMessages, { count: 0, firstPreview: null });
});

test('a waiting run that cannot be started is tried again, and keeps its turn', async () => {
  await using fixture = await startedWorkstreams();
  const gate = Promise.withResolvers<void>();
  fixture.puppet.turn(gate.promise, 'done');
  await fixture.send('a');
  const b = await fixture.send('b');
  const c = await fixture.send('c');
  fixture.parts.tap.fails = ({ events }) => events?.events[0]?.type === 'user_turn';
  gate.resolve();
  await turnsUntil(() => fixture.log.lines.some(([level]) => level === 'warn'), 'the failure');
  fixture.parts.tap.fails = undefined;
  await fixture.clock.advance(1_000);
  await Promise.all([b?.ended, c?.ended]);
  assert.deepEqual(
    fixture.seen.filter((line) => line.startsWith('running')),
    ['running a', 'running b', 'running c'],
  );
});

test('a cancel stops what runs, drops what waits, and every run has one terminal record', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn('Hel', never());
  const handles = [await fixture.send('a'), await fixture.send('b'), await fixture.send('c')];
  await fixture.reaches('content');
  const receipt = await fixture.main().cancel({ force: false });
  assert.deepEqual(receipt, {
    wasRunning: true,
    pendingApproval: null,
    stoppedTools: [],
    queuedMessages: { count: 2, firstPreview: 'b' },
  });
  const ended = await Promise.all(handles.map((handle) => handle?.ended));
  assert.deepEqual(
    ended.map((result) => result?.status),
    ['cancelled', 'cancelled', 'cancelled'],
  );
  assert.deepEqual(await statusesOf(fixture), ['a cancelled', 'b cancelled', 'c cancelled']);
  const events = await fixture.eventsOf(fixture.main().data.wsId);
  assert.deepEqual(shapes(events).slice(-3), ['cancelled', 'stream_end', 'ws_state idle']);
  assert.deepEqual([fixture.main().busy, fixture.main().data.abortedLastRun], [false, true]);
});

test('a cancel in the moment a run ends never drops a run that has just been started', async () => {
  await using fixture = await startedWorkstreams();
  for (let delay = 0; delay < 6; delay += 1) {
    const gate = Promise.withResolvers<void>();
    fixture.puppet.turn(gate.promise, 'done');
    const handles = [await fixture.send('a'), await fixture.send('b'), await fixture.send('c')];
    gate.resolve();
    for (let turn = 0; turn < delay; turn += 1) await new Promise(setImmediate);
    await fixture.main().cancel({ force: false });
    const ended = await Promise.all(handles.map((handle) => handle?.ended));
    assert.equal(ended.length, 3);
    assert.equal(fixture.main().busy, false);
  }
  assert.deepEqual(
    (await rowsOf(fixture)).filter(({ status }) => status === 'running' || status === 'queued'),
    [],
  );
});

test('one run can be cancelled while it waits', async () => {
  await using fixture = await startedWorkstreams();
  const gate = Promise.withResolvers<void>();
  fixture.puppet.turn(gate.promise, 'done');
  const a = await fixture.send('a');
  const b = await fixture.send('b');
  const c = await fixture.send('c');
  assert.equal(await fixture.main().cancelRun(b?.run.runId ?? ''), true);
  assert.equal(await fixture.main().cancelRun('run_unknown'), false);
  gate.resolve();
  const ended = await Promise.all([a, b, c].map((handle) => handle?.ended));
  assert.deepEqual(
    ended.map((result) => result?.status),
    ['ok', 'cancelled', 'ok'],
  );
});

test('a cancel while the store takes no writes stops what runs and drops what waits; both are recorded when it can be', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn('Hel', never());
  await fixture.send('a');
  const b = await fixture.send('b');
  const c = await fixture.send('c');
  await fixture.reaches('content');
  fixture.parts.tap.fails = () => true;
  const receipt = await fixture.main().cancel({ force: false });
  assert.deepEqual([receipt.wasRunning, receipt.queuedMessages.count], [true, 2]);
  await fixture.clock.advance(1_000);
  assert.deepEqual(await statusesOf(fixture), ['a running', 'b queued', 'c queued']);
  fixture.parts.tap.fails = undefined;
  await fixture.clock.advance(1_000);
  await Promise.all([b?.ended, c?.ended]);
  assert.deepEqual(await statusesOf(fixture), ['a cancelled', 'b cancelled', 'c cancelled']);
  assert.equal(fixture.puppet.requests.length, 1);
});

test('a tool that ignores a cancel is abandoned after five seconds, and can say nothing any more', async () => {
  const late = Promise.withResolvers<ToolOutcome>();
  await using fixture = await startedWorkstreams({ execute: () => late.promise });
  fixture.puppet.turn(calling('look'));
  await fixture.send('a');
  await turnsUntil(() => fixture.seen.includes('started look'), 'the tool');
  const cancelled = fixture.main().cancel({ force: false });
  await new Promise(setImmediate);
  await fixture.clock.advance(5_000);
  assert.deepEqual((await cancelled).stoppedTools, ['look']);
  const { wsId } = fixture.main().data;
  const before = await fixture.eventsOf(wsId);
  assert.deepEqual(shapes(before).slice(-2), ['stream_end', 'ws_state idle']);
  late.resolve({ output: 'too late', outcome: 'done' });
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  assert.deepEqual(await fixture.eventsOf(wsId), before);
  assert.equal((await (await fixture.send('b', { ifIdle: true }))?.ended)?.status, 'ok');
});

test('a force cancel that could not be stored leaves the end to the worker', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn('Hel', never());
  const a = await fixture.send('a');
  await fixture.reaches('content');
  fixture.parts.tap.fails = () => true;
  assert.equal((await fixture.main().cancel({ force: true })).wasRunning, true);
  fixture.parts.tap.fails = undefined;
  await fixture.clock.advance(1_000);
  assert.equal((await a?.ended)?.status, 'cancelled');
  assert.equal(fixture.main().busy, false);
});

test('two force cancels at once are one', async () => {
  await using fixture = await startedWorkstreams({ execute: () => new Promise(() => undefined) });
  fixture.puppet.turn(calling('look'));
  await fixture.send('a');
  await turnsUntil(() => fixture.seen.includes('started look'), 'the tool');
  const main = fixture.main();
  await Promise.all([main.cancel({ force: true }), main.cancel({ force: true })]);
  await main.cancel({ force: true });
  const events = await fixture.eventsOf(main.data.wsId);
  assert.deepEqual(
    shapes(events).filter((shape) => shape === 'ws_state idle'),
    ['ws_state idle'],
  );
});

test('a force cancel in the moment of a decision ends the run once', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn(calling('touch'));
  const a = await fixture.send('a');
  await fixture.reaches('approve_request');
  const [pending] = fixture.parts.approvals.list();
  const decided = fixture.parts.approvals.resolve(pending?.approvalId ?? '', YES);
  await fixture.main().cancel({ force: true });
  await decided;
  assert.equal((await a?.ended)?.status, 'cancelled');
  assert.deepEqual([fixture.main().busy, fixture.seen.at(-1)], [false, 'ended a: cancelled']);
  const approvals = await fixture.parts.store.db.selectFrom('approvals').select(['status', 'decided_by']).execute();
  assert.deepEqual(approvals, [{ status: 'approved', decided_by: 'ada' }]);
});

test('a force cancel in the moment an answer is recorded keeps the answer once, and every call gets its result', async () => {
  await using fixture = await startedWorkstreams();
  const { tap, messages } = fixture.parts;
  let cancelled: Promise<unknown> | undefined;
  tap.fails = ({ events }) => {
    if (events?.events.some(({ type }) => type === 'status')) cancelled ??= fixture.main().cancel({ force: true });
    return false;
  };
  fixture.puppet.turn('Let me see.', calling('look'));
  const a = await fixture.send('a');
  assert.equal((await a?.ended)?.status, 'cancelled');
  await cancelled;
  const { wsId, messageCount } = fixture.main().data;
  const stored = await messages.page(wsId, { after: 0, upTo: messageCount, limit: 10 });
  assert.deepEqual(
    stored.map(({ message }) =>
      message.role === 'tool' ? `tool: ${message.output}` : `${message.role}: ${message.content}`,
    ),
    ['user: a', 'assistant: Let me see.', 'tool: Cancelled by user'],
  );
});

test('a shutdown suspends what runs and refuses what comes', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn('Hel', never());
  await fixture.send('a');
  await fixture.send('b');
  await fixture.reaches('content');
  fixture.parts.stopping.abort(new Error('bye'));
  await fixture.parts.workstreams.shutdown();
  await assert.rejects(fixture.send('c'), { code: 'UNAVAILABLE', message: 'Headgate is shutting down' });
  assert.deepEqual(await statusesOf(fixture), ['a running', 'b queued']);
});

test('a shutdown while a run is being started suspends it too', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn('Hel', never());
  const accepted = fixture.send('a');
  await new Promise(setImmediate);
  await fixture.parts.workstreams.shutdown();
  await accepted;
  assert.deepEqual(await statusesOf(fixture), ['a running']);
});
