import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { ProcessIdentity } from '../../agent/tools/tool.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { shapesOf, turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const HOUR = 3_600_000;

/** Waits for the run that continues after a restart. */
const endOf = async (gateway: WholeGateway, runId = '') => (await gateway.call('agent.wait', { runId })).status;
const stateOf = async (gateway: WholeGateway) =>
  (await gateway.call('workstream.get', { wsId: await gateway.main() })).snapshot.workstream.state;
const pending = async (gateway: WholeGateway) => (await gateway.call('approval.list', {})).approvals;
const decide = (gateway: WholeGateway, approvalId = '', approved = true) =>
  gateway.call('approval.resolve', { approvalId, approved });
const historyOf = async ({ mainWorkstream, parts }: WholeGateway) => {
  const { data } = mainWorkstream();
  const stored = await parts.messages.page(data.wsId, { after: 0, upTo: data.messageCount, limit: 100 });
  return stored.map(({ message }) => (message.role === 'tool' ? message.output : message.content));
};

test('an interrupted answer is closed as interrupted and requested again', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hel', never());
  const handle = await gateway.accept('a');
  await gateway.reaches(await gateway.main(), 'content');
  gateway.puppet.turn('Hello');
  await gateway.crash();
  assert.equal(await endOf(gateway, handle?.run.runId), 'ok');
  assert.deepEqual(await historyOf(gateway), ['a', 'Hello']);
  const events = await gateway.events(await gateway.main());
  assert.deepEqual(shapesOf(events), [
    'user_turn',
    ...['thinking_start', 'ws_state thinking', 'thinking_stop', 'content', 'stream_end'],
    ...['thinking_start', 'ws_state thinking', 'thinking_stop', 'content', 'stream_end', 'status'],
    'ws_state idle',
  ]);
  assert.deepEqual(events[5], { type: 'stream_end', interrupted: true });
  assert.deepEqual(
    gateway.puppet.requests.map(({ messages }) => messages.length),
    [1, 1],
  );
});

test('a turn interrupted three times ends with the reason', async () => {
  await using gateway = await wholeGateway();
  const handle = await gateway.accept('a').then((accepted) => accepted);
  await handle?.ended;
  for (let turn = 0; turn < 3; turn += 1) gateway.puppet.turn('Hel', never());
  const again = await gateway.accept('b');
  await gateway.reaches(await gateway.main(), 'thinking_start', 2);
  await gateway.crash();
  await gateway.reaches(await gateway.main(), 'thinking_start', 3);
  await gateway.crash();
  await gateway.reaches(await gateway.main(), 'thinking_start', 4);
  await gateway.crash();
  assert.equal(await endOf(gateway, again?.run.runId), 'error');
  assert.deepEqual([await stateOf(gateway), gateway.mainWorkstream().busy], ['error', false]);
});

test('a pending question survives with its id, with at least ten minutes to answer', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(calling('touch'));
  const handle = await gateway.accept('a');
  await gateway.reaches(await gateway.main(), 'approve_request');
  const [before] = await pending(gateway);
  await gateway.store.markAlive(1_000_000 + HOUR / 2);
  await gateway.crash({ downMs: 8 * HOUR });
  const [after] = await pending(gateway);
  assert.deepEqual(after, { ...before, expiresAtMs: gateway.clock.now() + HOUR / 2 });
  assert.equal(await stateOf(gateway), 'attention');
  await gateway.store.markAlive((after?.expiresAtMs ?? 0) - 1_000);
  await gateway.crash({ downMs: HOUR });
  assert.equal((await pending(gateway))[0]?.expiresAtMs, gateway.clock.now() + 600_000);
  await decide(gateway, before?.approvalId);
  assert.equal(await endOf(gateway, handle?.run.runId), 'ok');
  assert.deepEqual(await historyOf(gateway), ['a', '', 'touched', 'ok']);
});

test('a pending question expires after a restart too', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(calling('touch'));
  const handle = await gateway.accept('a');
  await gateway.reaches(await gateway.main(), 'approve_request');
  await gateway.crash();
  await gateway.clock.advance(HOUR);
  assert.equal(await endOf(gateway, handle?.run.runId), 'ok');
  assert.equal((await historyOf(gateway))[2], 'Approval timed out after 1 hour');
});

test('a person is asked about an interrupted tool, and it runs again only if they approve', async () => {
  for (const [approved, output, runs] of [
    [true, 'touched', 2],
    [false, 'Outcome unknown: Headgate stopped while this ran, and it was not run again.', 1],
  ] as const) {
    let started = 0;
    const killed: ProcessIdentity[] = [];
    await using gateway = await wholeGateway({
      killLeftover: async (process) => void killed.push(process),
      async execute(_tool, run) {
        started += 1;
        if (started === 1) {
          await run.onProcess({ pid: 7, startTicks: 9 });
          await never();
        }
        return { output: 'touched', outcome: 'done' };
      },
    });
    gateway.puppet.turn(calling('touch'));
    const handle = await gateway.accept('a');
    await gateway.reaches(await gateway.main(), 'approve_request');
    await decide(gateway, (await pending(gateway))[0]?.approvalId);
    await turnsUntil(() => started === 1, 'the tool');
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate); // its process is recorded
    await gateway.crash();
    await gateway.reaches(await gateway.main(), 'approve_request', 2);
    const [question] = await pending(gateway);
    assert.deepEqual([question?.kind, question?.items[0]?.call_id, started], ['outcome', 'call_touch', 1]);
    assert.deepEqual(killed, [{ pid: 7, startTicks: 9 }]);
    await decide(gateway, question?.approvalId, approved);
    assert.equal(await endOf(gateway, handle?.run.runId), 'ok');
    assert.deepEqual([(await historyOf(gateway))[2], started], [output, runs]);
  }
});

test('a tool that is safe to repeat runs again without a question', async () => {
  let started = 0;
  await using gateway = await wholeGateway({
    execute: async () => {
      started += 1;
      if (started === 1) await never();
      return { output: 'seen', outcome: 'done' };
    },
  });
  gateway.puppet.turn(calling('look'));
  const handle = await gateway.accept('a');
  await turnsUntil(() => started === 1, 'the tool');
  await gateway.crash();
  assert.equal(await endOf(gateway, handle?.run.runId), 'ok');
  assert.deepEqual([await historyOf(gateway), started], [['a', '', 'seen', 'ok'], 2]);
});

test('a stored decision counts, although its tool had not started', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(calling('touch'));
  const handle = await gateway.accept('a');
  await gateway.reaches(await gateway.main(), 'approve_request');
  let isStarting = false;
  gateway.disk.diesAt = ({ durable, events }) => {
    isStarting ||= durable === true && events?.events.length === 0; // the start of a tool
    return isStarting;
  };
  await decide(gateway, (await pending(gateway))[0]?.approvalId);
  await turnsUntil(() => isStarting, 'the start of the tool');
  await gateway.crash();
  assert.equal(await endOf(gateway, handle?.run.runId), 'ok');
  const asked = await gateway.store.db.selectFrom('approvals').select('status').execute();
  assert.deepEqual([await historyOf(gateway), asked], [['a', '', 'touched', 'ok'], [{ status: 'approved' }]]);
});

test('queued runs continue in their order, even with equal times', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hel', never());
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const handles = [];
  for (const name of names) handles.push(await gateway.accept(name));
  await gateway.reaches(await gateway.main(), 'content');
  await gateway.crash();
  for (const handle of handles) assert.equal(await endOf(gateway, handle?.run.runId), 'ok');
  const story = (await gateway.events(await gateway.main())).flatMap((event) => {
    if (event.type === 'user_turn') return [`running ${event.message}`];
    return event.type === 'ws_state' && event.run ? [event.run.status] : [];
  });
  assert.deepEqual(
    story,
    names.flatMap((name) => [`running ${name}`, 'ok']),
  );
});

test('cancelled and ended runs do not continue', async () => {
  await using gateway = await wholeGateway();
  await (await gateway.accept('a'))?.ended;
  gateway.puppet.turn(never());
  await gateway.accept('b');
  await gateway.mainWorkstream().cancel({ force: true });
  const events = await gateway.events(await gateway.main());
  await gateway.crash();
  assert.deepEqual([gateway.mainWorkstream().busy, gateway.mainWorkstream().data.abortedLastRun], [false, true]);
  assert.deepEqual(await gateway.events(await gateway.main()), events);
});

test('a run that failed is shown as failed after a restart, until the next one', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(new GatewayError('UNAVAILABLE', 'The model is away'));
  await (await gateway.accept('a'))?.ended;
  await gateway.crash();
  assert.equal(await stateOf(gateway), 'error');
  await (await gateway.accept('b'))?.ended;
  await gateway.crash();
  assert.equal(await stateOf(gateway), 'idle');
});

test('a snapshot during a turn ends before the turn, also after a restart', async () => {
  await using gateway = await wholeGateway();
  await (await gateway.accept('first'))?.ended;
  gateway.puppet.turn('Let me. ', calling('touch'));
  await gateway.accept('second');
  await gateway.reaches(await gateway.main(), 'approve_request');
  const place = async () => {
    const wsId = await gateway.main();
    const { cursor, snapshot } = await gateway.call('workstream.get', { wsId });
    const next = (await gateway.events(wsId))[Number(cursor.split(':')[1])];
    return {
      messages: snapshot.messages.map(({ content }) => content),
      next: next?.type,
      waits: snapshot.pendingApprovals.length,
    };
  };
  const expected = { messages: ['first', 'ok', 'second'], next: 'thinking_start', waits: 1 };
  assert.deepEqual(await place(), expected);
  await gateway.crash();
  assert.deepEqual(await place(), expected);
});

/** Cuts a stored JSON text. */
const cut = (gateway: WholeGateway, { table, column, where }: { table: string; column: string; where: string }) =>
  gateway.store.commit({
    statements: [
      { sql: `update ${table} set ${column} = substr(${column}, 1, 7) where ${where}`, parameters: [], expect: 1 },
    ],
  });

test('a damaged journal line ends its run with the reason, and the process of its tool is stopped', async () => {
  const killed: ProcessIdentity[] = [];
  let started = 0;
  await using gateway = await wholeGateway({
    killLeftover: async (process) => void killed.push(process),
    async execute(_tool, run) {
      started += 1;
      await run.onProcess({ pid: 7, startTicks: 9 });
      await never();
      return { output: 'seen', outcome: 'done' };
    },
  });
  gateway.puppet.turn(calling('look'));
  const handle = await gateway.accept('a');
  await turnsUntil(() => started === 1, 'the tool');
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate); // its process is recorded
  await cut(gateway, { table: 'journal', column: 'body_json', where: "kind = 'model_called'" });
  await gateway.crash();
  assert.equal(await endOf(gateway, handle?.run.runId), 'error');
  assert.deepEqual(killed, [{ pid: 7, startTicks: 9 }]);
  assert.equal(gateway.store.health().damaged, true);
});

test('runs with damaged requests end with the reason, their messages stay, and the conversation continues', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(never());
  const handles = [];
  for (const message of ['running', 'lost', 'waiting']) handles.push(await gateway.accept(message));
  const [running, lost, waiting] = handles.map((handle) => handle?.run.runId);
  await gateway.reaches(await gateway.main(), 'thinking_start');
  for (const runId of [running, lost])
    await cut(gateway, { table: 'runs', column: 'request_json', where: `run_id = '${runId}'` });
  await gateway.crash();
  const ends = [];
  for (const runId of [running, lost, waiting]) ends.push(await endOf(gateway, runId));
  assert.deepEqual(
    [ends, await historyOf(gateway)],
    [
      ['error', 'error', 'ok'],
      ['running', 'waiting', 'ok'],
    ],
  );
  const told = (await gateway.events(await gateway.main())).flatMap((event) =>
    event.type === 'error' ? [event.message] : [],
  );
  assert.deepEqual(told, [
    'Error: A waiting message is damaged in the database, so it was not sent',
    'Error: The part of the database that holds this conversation is damaged',
  ]);
  assert.equal(gateway.store.health().damaged, true);
});
