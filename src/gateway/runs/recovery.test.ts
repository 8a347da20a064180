import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Decision } from '../../agent/run/journal.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { never, shapes, startedWorkstreams } from '../workstreams/workstreams-fixture.ts';

const YES: Decision = { approved: true, feedback: '', always: false, by: { kind: 'principal', id: 'ada' } };
const HOUR = 3_600_000;

type Fixture = Awaited<ReturnType<typeof startedWorkstreams>>;

/** Waits for the run that a restart continued. */
async function endOf(fixture: Fixture, runId = ''): Promise<string | undefined> {
  const handle = await fixture.parts.runs.find(runId, { principal: 'ada' });
  return (await handle?.ended)?.status;
}
const historyOf = async ({ main, parts }: Fixture) => {
  const { data } = main();
  const stored = await parts.messages.page(data.wsId, { after: 0, upTo: data.messageCount, limit: 100 });
  return stored.map(({ message }) => (message.role === 'tool' ? message.output : message.content));
};

test('a generation that was cut off is closed as interrupted and asked again', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn('Hel', never());
  const handle = await fixture.send('a');
  await fixture.reaches('content');
  fixture.puppet.turn('Hello');
  await fixture.crash();
  assert.equal(await endOf(fixture, handle?.run.runId), 'ok');
  assert.deepEqual(await historyOf(fixture), ['a', 'Hello']);
  const events = await fixture.eventsOf(fixture.main().data.wsId);
  assert.deepEqual(shapes(events), [
    'user_turn',
    ...['thinking_start', 'ws_state thinking', 'thinking_stop', 'content', 'stream_end'],
    ...['thinking_start', 'ws_state thinking', 'thinking_stop', 'content', 'stream_end', 'status'],
    'ws_state idle',
  ]);
  assert.deepEqual(events[5], { type: 'stream_end', interrupted: true });
  assert.deepEqual(
    fixture.puppet.requests.map(({ messages }) => messages.length),
    [1, 1],
  );
});

test('a turn that dies three times ends with the reason', async () => {
  await using fixture = await startedWorkstreams();
  const handle = await fixture.send('a').then((accepted) => accepted);
  await handle?.ended;
  for (let turn = 0; turn < 3; turn += 1) fixture.puppet.turn('Hel', never());
  const again = await fixture.send('b');
  await fixture.reaches('thinking_start', 2);
  await fixture.crash();
  await fixture.reaches('thinking_start', 3);
  await fixture.crash();
  await fixture.reaches('thinking_start', 4);
  await fixture.crash();
  assert.equal(await endOf(fixture, again?.run.runId), 'error');
  assert.deepEqual([fixture.main().data.state, fixture.main().busy], ['error', false]);
});

test('a question that waited is still there under its id, with at least ten minutes to answer', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn(calling('touch'));
  const handle = await fixture.send('a');
  await fixture.reaches('approve_request');
  const [before] = fixture.parts.approvals.list();
  await fixture.crash({ downMs: 8 * HOUR, lastAliveMs: 1_000_000 + HOUR / 2 });
  const [after] = fixture.parts.approvals.list();
  assert.deepEqual(after, { ...before, expiresAtMs: fixture.clock.now() + HOUR / 2 });
  assert.equal(fixture.main().data.state, 'attention');
  await fixture.crash({ downMs: HOUR, lastAliveMs: (after?.expiresAtMs ?? 0) - 1_000 });
  assert.equal(fixture.parts.approvals.list()[0]?.expiresAtMs, fixture.clock.now() + 600_000);
  await fixture.parts.approvals.resolve(before?.approvalId ?? '', YES);
  assert.equal(await endOf(fixture, handle?.run.runId), 'ok');
  assert.deepEqual(await historyOf(fixture), ['a', '', 'touch done', 'ok']);
});

test('a question that waited expires after a restart too', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn(calling('touch'));
  const handle = await fixture.send('a');
  await fixture.reaches('approve_request');
  await fixture.crash();
  await fixture.clock.advance(HOUR);
  assert.equal(await endOf(fixture, handle?.run.runId), 'ok');
  assert.equal((await historyOf(fixture))[2], 'Approval timed out after 1 hour');
});

test('a tool that was running goes to a person, and is not run again unless they say so', async () => {
  for (const [approved, output, runs] of [
    [true, 'touched', 2],
    [false, 'Outcome unknown: Headgate stopped while this ran, and it was not run again.', 1],
  ] as const) {
    let started = 0;
    await using fixture = await startedWorkstreams({
      async execute(_tool, run) {
        started += 1;
        if (started === 1) {
          await run.onProcess({ pid: 7, startTicks: 9 });
          await never();
        }
        return { output: 'touched', outcome: 'done' };
      },
    });
    fixture.puppet.turn(calling('touch'));
    const handle = await fixture.send('a');
    await fixture.reaches('approve_request');
    await fixture.parts.approvals.resolve(fixture.parts.approvals.list()[0]?.approvalId ?? '', YES);
    await turnsUntil(() => started === 1, 'the tool');
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate); // its process is on record
    await fixture.crash();
    await fixture.reaches('approve_request', 2);
    const [question] = fixture.parts.approvals.list();
    assert.deepEqual([question?.kind, question?.items[0]?.call_id, started], ['outcome', 'call_touch', 1]);
    assert.deepEqual(fixture.killed, [{ pid: 7, startTicks: 9 }]);
    await fixture.parts.approvals.resolve(question?.approvalId ?? '', { ...YES, approved });
    assert.equal(await endOf(fixture, handle?.run.runId), 'ok');
    assert.deepEqual([(await historyOf(fixture))[2], started], [output, runs]);
  }
});

test('a tool that is safe to repeat runs again without a question', async () => {
  let started = 0;
  await using fixture = await startedWorkstreams({
    execute: async () => {
      started += 1;
      if (started === 1) await never();
      return { output: 'seen', outcome: 'done' };
    },
  });
  fixture.puppet.turn(calling('look'));
  const handle = await fixture.send('a');
  await turnsUntil(() => started === 1, 'the tool');
  await fixture.crash();
  assert.equal(await endOf(fixture, handle?.run.runId), 'ok');
  assert.deepEqual([await historyOf(fixture), started], [['a', '', 'seen', 'ok'], 2]);
});

test('a decision that was stored counts, though its tool had not begun', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn(calling('touch'));
  const handle = await fixture.send('a');
  await fixture.reaches('approve_request');
  fixture.parts.tap.fails = ({ durable, events }) => durable === true && events === undefined; // a start of a tool
  await fixture.parts.approvals.resolve(fixture.parts.approvals.list()[0]?.approvalId ?? '', YES);
  fixture.parts.tap.dead = true;
  await fixture.crash();
  assert.equal(await endOf(fixture, handle?.run.runId), 'ok');
  const asked = await fixture.parts.store.db.selectFrom('approvals').select('status').execute();
  assert.deepEqual([await historyOf(fixture), asked], [['a', '', 'touch done', 'ok'], [{ status: 'approved' }]]);
});

test('runs that waited are taken up in their order, also those of one millisecond', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn('Hel', never());
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const handles = [];
  for (const name of names) handles.push(await fixture.send(name));
  await fixture.reaches('content');
  await fixture.crash();
  for (const handle of handles) assert.equal(await endOf(fixture, handle?.run.runId), 'ok');
  const begun = fixture.seen.filter((line) => line.startsWith('running')).slice(1);
  assert.deepEqual(
    begun,
    names.map((name) => `running ${name}`),
  );
});

test('what was cancelled or is over is not taken up', async () => {
  await using fixture = await startedWorkstreams();
  await (await fixture.send('a'))?.ended;
  fixture.puppet.turn(never());
  await fixture.send('b');
  await fixture.main().cancel({ force: true });
  const events = await fixture.eventsOf(fixture.main().data.wsId);
  await fixture.crash();
  assert.deepEqual([fixture.main().busy, fixture.main().data.abortedLastRun], [false, true]);
  assert.deepEqual(await fixture.eventsOf(fixture.main().data.wsId), events);
});

test('a run that failed is shown as failed after a restart, until the next one', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn(new GatewayError('UNAVAILABLE', 'The model is away'));
  await (await fixture.send('a'))?.ended;
  await fixture.crash();
  assert.equal(fixture.main().data.state, 'error');
  await (await fixture.send('b'))?.ended;
  await fixture.crash();
  assert.equal(fixture.main().data.state, 'idle');
});

test('a snapshot in mid-turn ends before the turn, also after a restart', async () => {
  await using fixture = await startedWorkstreams();
  await (await fixture.send('first'))?.ended;
  fixture.puppet.turn('Let me. ', calling('touch'));
  await fixture.send('second');
  await fixture.reaches('approve_request');
  const place = async () => {
    const { after, snapshot } = await fixture.parts.snapshots.take(fixture.main());
    const next = (await fixture.eventsOf(fixture.main().data.wsId))[after];
    return {
      messages: snapshot.messages.map(({ content }) => content),
      next: next?.type,
      waits: snapshot.pendingApprovals.length,
    };
  };
  const expected = { messages: ['first', 'ok', 'second'], next: 'thinking_start', waits: 1 };
  assert.deepEqual(await place(), expected);
  await fixture.crash();
  assert.deepEqual(await place(), expected);
});
