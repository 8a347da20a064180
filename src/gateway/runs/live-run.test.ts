import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Decision } from '../../agent/run/journal.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { never, shapes, startedWorkstreams } from '../workstreams/workstreams-fixture.ts';

const YES: Decision = { approved: true, feedback: '', always: false, by: { kind: 'principal', id: 'ada' } };

/** A run of `main` whose question about `touch` waits. */
async function asking() {
  const fixture = await startedWorkstreams();
  fixture.puppet.turn(calling('touch'));
  const handle = await fixture.send('touch it');
  await fixture.reaches('approve_request');
  const approvalId = fixture.parts.approvals.list()[0]?.approvalId ?? '';
  return { ...fixture, fixture, handle, approvalId, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

test('of a hundred decisions at once one wins', async () => {
  await using run = await asking();
  const { approvals } = run.fixture.parts;
  const decisions = Array.from({ length: 100 }, (_, index) => ({
    ...YES,
    approved: index % 2 === 0,
    by: { kind: 'principal' as const, id: `p${index}` },
  }));
  const outcomes = await Promise.allSettled(decisions.map((decision) => approvals.resolve(run.approvalId, decision)));
  const lost = outcomes.filter((outcome) => outcome.status === 'rejected' && outcome.reason.code === 'CONFLICT');
  assert.deepEqual([outcomes.length - lost.length, lost.length], [1, 99]);
  await run.handle?.ended;
  const rows = await run.fixture.parts.store.db.selectFrom('approvals').select(['status', 'decided_by']).execute();
  assert.deepEqual(rows, [{ status: 'approved', decided_by: 'p0' }]);
  const events = await run.eventsOf(run.main().data.wsId);
  assert.equal(shapes(events).filter((shape) => shape === 'approval_resolved').length, 1);
});

test('a decision that could not be stored decides nothing and can be made again', async () => {
  await using run = await asking();
  const { approvals, tap } = run.fixture.parts;
  tap.fails = () => true;
  await assert.rejects(approvals.resolve(run.approvalId, YES), { code: 'UNAVAILABLE' });
  tap.fails = undefined;
  assert.equal(approvals.list()[0]?.approvalId, run.approvalId);
  await approvals.resolve(run.approvalId, YES);
  assert.equal((await run.handle?.ended)?.status, 'ok');
});

test('a decision is called late only once the one before is on disk; if that fails, the later one counts', async () => {
  await using run = await asking();
  const { approvals, tap } = run.fixture.parts;
  let refusals = 0;
  tap.fails = ({ events }) => events?.events[0]?.type === 'approval_resolved' && refusals++ === 0;
  const first = approvals.resolve(run.approvalId, YES);
  const second = approvals.resolve(run.approvalId, { ...YES, approved: false, by: { kind: 'principal', id: 'eve' } });
  await assert.rejects(first, { code: 'UNAVAILABLE' });
  await second;
  await assert.rejects(approvals.resolve(run.approvalId, YES), { code: 'CONFLICT' });
  const rows = await run.fixture.parts.store.db.selectFrom('approvals').select(['status', 'decided_by']).execute();
  assert.deepEqual(rows, [{ status: 'denied', decided_by: 'eve' }]);
});

test('a question that a shutdown leaves for the next start is not called decided', async () => {
  await using run = await asking();
  const stopped = run.main().shutdown();
  await assert.rejects(run.fixture.parts.approvals.resolve(run.approvalId, YES), { code: 'UNAVAILABLE' });
  await stopped;
  await run.fixture.crash();
  const { approvals } = run.fixture.parts;
  assert.equal(approvals.list()[0]?.approvalId, run.approvalId);
  await approvals.resolve(run.approvalId, YES);
});

test('a decision in the moment of a cancel hears that it is late when the cancel is on record', async () => {
  await using run = await asking();
  const { approvals, store, tap } = run.fixture.parts;
  const late = Promise.withResolvers<unknown>();
  tap.fails = ({ events }) => {
    if (!events?.events.some(({ type }) => type === 'cancelled')) return false;
    const refused = assert.rejects(approvals.resolve(run.approvalId, YES), { code: 'CONFLICT' });
    late.resolve(refused.then(() => store.db.selectFrom('approvals').select('status').execute()));
    return false;
  };
  await run.main().cancel({ force: false });
  assert.deepEqual(await late.promise, [{ status: 'cancelled' }]);
});

test('a deadline that could not be stored is tried again until it is', async () => {
  await using run = await asking();
  run.fixture.parts.tap.fails = () => true;
  await run.clock.advance(3_600_000);
  assert.equal(run.fixture.parts.approvals.list().length, 1);
  run.fixture.parts.tap.fails = undefined;
  await run.clock.advance(1_000);
  await run.handle?.ended;
  const rows = await run.fixture.parts.store.db.selectFrom('approvals').select(['status', 'feedback']).execute();
  assert.deepEqual(rows, [{ status: 'expired', feedback: 'Approval timed out after 1 hour' }]);
});

test('"always" turns auto-approve on with the decision; with a denial it does nothing', async () => {
  await using denied = await asking();
  await denied.fixture.parts.approvals.resolve(denied.approvalId, { ...YES, approved: false, always: true });
  await denied.handle?.ended;
  assert.equal(denied.main().data.always, undefined);
  await using run = await asking();
  await run.fixture.parts.approvals.resolve(run.approvalId, { ...YES, always: true });
  const row = await run.fixture.parts.store.db
    .selectFrom('workstreams')
    .select(['always_by', 'always_until_ms'])
    .executeTakeFirst();
  const always = { by: 'ada', untilMs: 1_000_000 + 28_800_000 };
  assert.deepEqual(row, { always_by: always.by, always_until_ms: always.untilMs });
  assert.deepEqual(run.main().data.always, always);
  await run.handle?.ended;
  const events = await run.eventsOf(run.main().data.wsId);
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'settings_changed' ? [event.skip_permissions] : [])),
    [true],
  );
  run.puppet.turn(calling('touch'));
  assert.equal((await (await run.send('again'))?.ended)?.status, 'ok');
});

test('a delta that could not be stored surfaces, and what was said is kept as partial', async () => {
  await using fixture = await startedWorkstreams();
  fixture.parts.tap.fails = ({ events, statements }) =>
    events?.events[0]?.type === 'content' && statements === undefined;
  const gate = Promise.withResolvers<void>();
  fixture.puppet.turn('Hello', gate.promise);
  const handle = await fixture.send('a');
  await fixture.reaches('thinking_stop');
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate); // the delta fails meanwhile
  gate.resolve();
  const result = await handle?.ended;
  assert.deepEqual([result?.status, result?.error], ['error', 'Cannot write to the disk']);
  const { data } = fixture.main();
  const stored = await fixture.parts.messages.page(data.wsId, { after: 0, upTo: data.messageCount, limit: 10 });
  assert.deepEqual(stored.at(-1)?.message, { role: 'assistant', content: 'Hello', toolCalls: [], partial: true });
});

test('after a delta that could not be stored the model is not read any further, and the log has no hole', async () => {
  await using fixture = await startedWorkstreams();
  const [lost, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  fixture.puppet.turn('a', lost.promise, 'b', back.promise, 'c', never());
  const handle = await fixture.send('go');
  await fixture.reaches('content');
  fixture.parts.tap.fails = () => true;
  lost.resolve();
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  fixture.parts.tap.fails = undefined;
  back.resolve();
  assert.equal((await handle?.ended)?.status, 'error');
  const events = await fixture.eventsOf(fixture.main().data.wsId);
  const said = events.flatMap((event) => (event.type === 'content' ? [event.text] : []));
  assert.deepEqual(said, ['a', 'b']);
});

test('a tool goes on while the store takes no writes; its output is told up to there, its result afterwards', async () => {
  const [quiet, printed, lost] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  await using fixture = await startedWorkstreams({
    async execute(_tool, run) {
      run.onOutput('1\n');
      await quiet?.promise;
      run.onOutput('2\n');
      await lost?.promise;
      run.onOutput('3\n');
      printed?.resolve();
      return { output: '1\n2\n3\n', outcome: 'done' };
    },
  });
  fixture.puppet.turn(calling('look'));
  const handle = await fixture.send('go');
  await fixture.reaches('tool_output_chunk');
  fixture.parts.tap.fails = () => true;
  quiet?.resolve();
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  fixture.parts.tap.fails = ({ events }) => events?.events.some(({ type }) => type === 'tool_result') ?? false;
  lost?.resolve();
  await printed?.promise;
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate); // the result is refused meanwhile
  await fixture.clock.advance(3_000);
  fixture.parts.tap.fails = undefined;
  await fixture.clock.advance(1_000);
  assert.equal((await handle?.ended)?.status, 'ok');
  const told = (await fixture.eventsOf(fixture.main().data.wsId)).flatMap((event) => {
    if (event.type === 'tool_output_chunk') return [`chunk ${event.chunk}`];
    return event.type === 'tool_result' ? [`result ${event.output}`] : [];
  });
  assert.deepEqual(told, ['chunk 1\n', 'result 1\n2\n3\n']);
});

test('an older epoch is refused: whoever lost the workstream writes nothing', async () => {
  await using run = await asking();
  const { store } = run.fixture.parts;
  await store.commit({ statements: [{ sql: 'UPDATE workstreams SET run_epoch = run_epoch + 1', parameters: [] }] });
  const before = await run.eventsOf(run.main().data.wsId);
  await assert.rejects(run.fixture.parts.approvals.resolve(run.approvalId, YES), { code: 'CONFLICT' });
  assert.deepEqual(await run.eventsOf(run.main().data.wsId), before);
});

test('a run that takes too long is stopped; the time a person takes does not count', async () => {
  await using fixture = await startedWorkstreams();
  const { runs, approvals } = fixture.parts;
  fixture.puppet.turn(calling('touch'));
  fixture.puppet.turn('Hel', never());
  const handle = await runs.accept(fixture.main(), {
    ...{ message: 'a', principal: 'ada', rights: 'approve', source: 'person' },
    request: { timeoutMs: 3_000 },
  });
  await fixture.reaches('approve_request');
  await fixture.clock.advance(60_000);
  await approvals.resolve(approvals.list()[0]?.approvalId ?? '', YES);
  await fixture.reaches('content');
  await fixture.clock.advance(5_000);
  const result = await handle?.ended;
  assert.deepEqual([result?.status, result?.error], ['timeout', 'The run took longer than 3 s']);
  assert.equal(fixture.main().data.state, 'error');
});

test('a question of another workstream is not decided here', async () => {
  await using run = await asking();
  const { approvals, workstreams } = run.fixture.parts;
  const other = await workstreams.create({ name: 'other' });
  const { approvalId } = run;
  await assert.rejects(async () => approvals.resolveIn(other, YES, { approvalId, also: [] }), GatewayError);
  assert.equal(approvals.list().length, 1);
  await turnsUntil(() => approvals.list(other.data.wsId).length === 0, 'nothing');
});
