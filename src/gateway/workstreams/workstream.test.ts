import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayError } from '../../../protocol/errors.ts';
import type { ToolOutcome } from '../../agent/tools/tool.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { shapesOf, turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const isUnavailable = (error: GatewayError) => error.code === 'UNAVAILABLE';

const rowsOf = ({ store }: WholeGateway) =>
  store.db.selectFrom('runs').select(['status', 'request_json']).orderBy('accepted_ms').execute();
/** With their texts; those of ended runs that had begun are only in the conversation. */
const statusesOf = async (gateway: WholeGateway) =>
  (await rowsOf(gateway)).map(({ status, request_json }) => `${JSON.parse(request_json).message} ${status}`.trim());

/** When runs began and how they ended, in the order of the log. */
async function storyOf(gateway: WholeGateway): Promise<string[]> {
  const messages = new Map<string, string>();
  return (await gateway.events(await gateway.main())).flatMap((event) => {
    if (event.type === 'user_turn') {
      messages.set(event.run_id, event.message);
      return [`running ${event.message}`];
    }
    return event.type === 'ws_state' && event.run
      ? [`ended ${messages.get(event.run.run_id)}: ${event.run.status}`]
      : [];
  });
}

test('queued runs start in the order of acceptance, one at a time', async () => {
  await using gateway = await wholeGateway();
  const handles = await Promise.all(['a', 'b', 'c'].map((message) => gateway.accept(message)));
  const ended = await Promise.all(handles.map((handle) => handle?.ended));
  assert.deepEqual(
    ended.map((result) => result?.status),
    ['ok', 'ok', 'ok'],
  );
  assert.deepEqual(await storyOf(gateway), [
    ...['running a', 'ended a: ok', 'running b', 'ended b: ok', 'running c', 'ended c: ok'],
  ]);
});

test('a busy workstream refuses, or queues ten and refuses the eleventh', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(never());
  await gateway.accept('first');
  assert.equal(await gateway.accept('refused', { ifIdle: true }), undefined);
  for (let index = 0; index < 10; index += 1) await gateway.accept(`q${index}`);
  await assert.rejects(gateway.accept('eleventh'), { code: 'BUSY', retryAfterMs: 5_000 });
  assert.equal((await statusesOf(gateway)).length, 11);
});

test('the workstream is free when the end of a run is announced', async () => {
  await using gateway = await wholeGateway();
  const free: boolean[] = [];
  gateway.parts.events.onAppended((_wsId, entries) => {
    if (!entries.some(({ json }) => json.includes('"run":'))) return;
    setImmediate(() => free.push(!gateway.mainWorkstream().busy)); // the earliest time at which a client's next call can arrive
  });
  await (await gateway.accept('a'))?.ended;
  await turnsUntil(() => free.length > 0, 'the end');
  assert.deepEqual(free, [true]);
});

test('a message that could not be stored leaves the workstream free and nothing behind', async () => {
  await using gateway = await wholeGateway();
  gateway.disk.fails = () => true;
  await assert.rejects(gateway.accept('lost'), isUnavailable);
  gateway.disk.fails = undefined;
  assert.deepEqual(
    [gateway.mainWorkstream().busy, gateway.mainWorkstream().data.messageCount, gateway.mainWorkstream().data.title],
    [false, 0, null],
  );
  assert.equal((await (await gateway.accept('kept', { ifIdle: true }))?.ended)?.status, 'ok');
  assert.deepEqual(gateway.puppet.requests[0]?.messages, [{ role: 'user', content: 'kept' }]);
});

test('a message that could not be queued takes no place in the queue', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(never());
  await gateway.accept('first');
  await turnsUntil(() => gateway.mainWorkstream().data.state === 'thinking', 'the model is asked');
  gateway.disk.fails = () => true;
  await assert.rejects(gateway.accept('lost'), isUnavailable);
  gateway.disk.fails = undefined;
  assert.deepEqual((await gateway.mainWorkstream().cancel({ force: false })).queuedMessages, {
    count: 0,
    firstPreview: null,
  });
});

test('a queued run that cannot be started is retried, and keeps its position', async () => {
  await using gateway = await wholeGateway();
  const gate = Promise.withResolvers<void>();
  gateway.puppet.turn(gate.promise, 'done');
  await gateway.accept('a');
  const b = await gateway.accept('b');
  const c = await gateway.accept('c');
  gateway.disk.fails = ({ events }) => events?.events[0]?.type === 'user_turn';
  gate.resolve();
  await turnsUntil(() => gateway.log.lines.some(([level]) => level === 'warn'), 'the failure');
  gateway.disk.fails = undefined;
  await gateway.clock.advance(1_000);
  await Promise.all([b?.ended, c?.ended]);
  assert.deepEqual(
    (await storyOf(gateway)).filter((line) => line.startsWith('running')),
    ['running a', 'running b', 'running c'],
  );
});

test('a cancel stops the current run, drops queued ones, and every run has one final record', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hel', never());
  const handles = [await gateway.accept('a'), await gateway.accept('b'), await gateway.accept('c')];
  await gateway.reaches(await gateway.main(), 'content');
  const receipt = await gateway.mainWorkstream().cancel({ force: false });
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
  assert.deepEqual(await statusesOf(gateway), ['cancelled', 'b cancelled', 'c cancelled']);
  const events = await gateway.events(gateway.mainWorkstream().data.wsId);
  assert.deepEqual(shapesOf(events).slice(-3), ['cancelled', 'stream_end', 'ws_state idle']);
  assert.deepEqual([gateway.mainWorkstream().busy, gateway.mainWorkstream().data.abortedLastRun], [false, true]);
});

test('a cancel at the end of a run never drops a run that has just started', async () => {
  await using gateway = await wholeGateway();
  for (let delay = 0; delay < 6; delay += 1) {
    const gate = Promise.withResolvers<void>();
    gateway.puppet.turn(gate.promise, 'done');
    const handles = [await gateway.accept('a'), await gateway.accept('b'), await gateway.accept('c')];
    gate.resolve();
    for (let turn = 0; turn < delay; turn += 1) await new Promise(setImmediate);
    await gateway.mainWorkstream().cancel({ force: false });
    const ended = await Promise.all(handles.map((handle) => handle?.ended));
    assert.equal(ended.length, 3);
    assert.equal(gateway.mainWorkstream().busy, false);
  }
  assert.deepEqual(
    (await rowsOf(gateway)).filter(({ status }) => status === 'running' || status === 'queued'),
    [],
  );
});

test('a queued run can be cancelled', async () => {
  await using gateway = await wholeGateway();
  const gate = Promise.withResolvers<void>();
  gateway.puppet.turn(gate.promise, 'done');
  const a = await gateway.accept('a');
  const b = await gateway.accept('b');
  const c = await gateway.accept('c');
  assert.equal(await gateway.mainWorkstream().cancelRun(b?.run.runId ?? ''), true);
  assert.equal(await gateway.mainWorkstream().cancelRun('run_unknown'), false);
  gate.resolve();
  const ended = await Promise.all([a, b, c].map((handle) => handle?.ended));
  assert.deepEqual(
    ended.map((result) => result?.status),
    ['ok', 'cancelled', 'ok'],
  );
});

test('a cancel while the store cannot be written stops the current run and drops queued ones, and is recorded later', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hel', never());
  await gateway.accept('a');
  const b = await gateway.accept('b');
  const c = await gateway.accept('c');
  await gateway.reaches(await gateway.main(), 'content');
  gateway.disk.fails = () => true;
  const receipt = await gateway.mainWorkstream().cancel({ force: false });
  assert.deepEqual([receipt.wasRunning, receipt.queuedMessages.count], [true, 2]);
  await gateway.clock.advance(1_000);
  assert.deepEqual(await statusesOf(gateway), ['a running', 'b queued', 'c queued']);
  gateway.disk.fails = undefined;
  await gateway.clock.advance(1_000);
  await Promise.all([b?.ended, c?.ended]);
  assert.deepEqual(await statusesOf(gateway), ['cancelled', 'b cancelled', 'c cancelled']);
  assert.equal(gateway.puppet.requests.length, 1);
});

test('a shutdown suspends the current run and refuses new messages', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hel', never());
  await gateway.accept('a');
  await gateway.accept('b');
  await gateway.reaches(await gateway.main(), 'content');
  await gateway.gateway.shutdown('bye');
  await assert.rejects(gateway.accept('c'), { code: 'UNAVAILABLE', message: 'Headgate is shutting down' });
  assert.deepEqual(await statusesOf(gateway), ['a running', 'b queued']);
});

test('a shutdown while a run is being started suspends it too', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hel', never());
  const accepted = gateway.accept('a');
  await new Promise(setImmediate);
  await gateway.parts.workstreams.shutdown();
  await accepted;
  assert.deepEqual(await statusesOf(gateway), ['a running']);
});

test('a shutdown waits at most three and a half seconds for a run that does not stop, abandoned or not', async () => {
  for (const isAbandoned of [false, true]) {
    let started = 0;
    const execute = () => {
      started += 1;
      return new Promise<ToolOutcome>(() => undefined);
    };
    await using gateway = await wholeGateway({ execute });
    gateway.puppet.turn(calling('look'));
    await gateway.accept('a');
    await turnsUntil(() => started === 1, 'the tool');
    if (isAbandoned) await gateway.mainWorkstream().cancel({ force: true });
    let isOver = false;
    const stopped = gateway.gateway.shutdown('bye').then(() => {
      isOver = true;
    });
    await gateway.clock.advance(3_499);
    assert.equal(isOver, false);
    await gateway.clock.advance(1);
    await stopped;
    assert.deepEqual(await statusesOf(gateway), [isAbandoned ? 'cancelled' : 'a running']);
    const late = ['warn', 'a run did not stop in time; the daemon stops without it'];
    assert.deepEqual(gateway.log.lines.at(-1), late);
  }
});
