import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../agent/providers/model.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { shapesOf, wholeGateway } from '../testing/whole-gateway.ts';

/** A run of `main` with a pending approval of `touch`. */
async function asking() {
  const gateway = await wholeGateway();
  gateway.puppet.turn(calling('touch'));
  const handle = await gateway.accept('touch it');
  await gateway.reaches(await gateway.main(), 'approve_request');
  const pending = async () => (await gateway.call('approval.list', {})).approvals;
  const approvalId = (await pending())[0]?.approvalId ?? '';
  return {
    ...{ gateway, handle, approvalId, pending },
    decide: (more: { approved?: boolean; always?: boolean } = {}, id = 'ada') =>
      gateway.call('approval.resolve', { approvalId, approved: true, ...more }, { id }),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

test('of a hundred simultaneous decisions one wins', async () => {
  await using run = await asking();
  const decisions = Array.from({ length: 100 }, (_, index) => run.decide({ approved: index % 2 === 0 }, `p${index}`));
  const outcomes = await Promise.allSettled(decisions);
  const lost = outcomes.filter((outcome) => outcome.status === 'rejected' && outcome.reason.code === 'CONFLICT');
  assert.deepEqual([outcomes.length - lost.length, lost.length], [1, 99]);
  await run.handle?.ended;
  const rows = await run.gateway.store.db.selectFrom('approvals').select(['status', 'decided_by']).execute();
  assert.deepEqual(rows, [{ status: 'approved', decided_by: 'p0' }]);
  const events = await run.gateway.events(await run.gateway.main());
  assert.equal(shapesOf(events).filter((shape) => shape === 'approval_resolved').length, 1);
});

for (const force of [false, true])
  test(`${force ? 'a forced cancel' : 'a cancel'} that meets a decision does not claim the question that the other decided`, async () => {
    for (const approved of [true, false]) {
      await using run = await asking();
      const wsId = await run.gateway.main();
      const [decided, { dropped }] = await Promise.all([
        run.decide({ approved }).then(
          () => true,
          () => false,
        ),
        run.gateway.call('workstream.cancel', { wsId, force }),
      ]);
      await run.handle?.ended;
      const [row] = await run.gateway.store.db.selectFrom('approvals').select('decided_by').execute();
      assert.deepEqual(
        [decided, dropped.pendingApproval === null],
        [row?.decided_by === 'ada', row?.decided_by === 'ada'],
      );
      assert.equal(dropped.wasRunning, true);
    }
  });

test('a decision that could not be stored has no effect and can be repeated', async () => {
  await using run = await asking();
  const { disk } = run.gateway;
  disk.fails = () => true;
  await assert.rejects(run.decide(), { code: 'UNAVAILABLE' });
  disk.fails = undefined;
  assert.equal((await run.pending())[0]?.approvalId, run.approvalId);
  await run.decide();
  assert.equal((await run.handle?.ended)?.status, 'ok');
});

test('a later decision is refused only after the first is stored; if storing it fails, the later one counts', async () => {
  await using run = await asking();
  const { disk } = run.gateway;
  let refusals = 0;
  disk.fails = ({ events }) => events?.events[0]?.type === 'approval_resolved' && refusals++ === 0;
  const first = run.decide();
  const second = run.decide({ approved: false }, 'eve');
  await assert.rejects(first, { code: 'UNAVAILABLE' });
  await second;
  await assert.rejects(run.decide(), { code: 'CONFLICT' });
  const rows = await run.gateway.store.db.selectFrom('approvals').select(['status', 'decided_by']).execute();
  assert.deepEqual(rows, [{ status: 'denied', decided_by: 'eve' }]);
});

test('a question that a shutdown leaves for the next start does not count as decided', async () => {
  await using run = await asking();
  const stopped = run.gateway.mainWorkstream().shutdown();
  await assert.rejects(run.decide(), { code: 'UNAVAILABLE' });
  await stopped;
  await run.gateway.crash();
  assert.equal((await run.pending())[0]?.approvalId, run.approvalId);
  await run.decide();
});

test('a decision during a cancel is refused once the cancel is recorded', async () => {
  await using run = await asking();
  const { disk, store } = run.gateway;
  const late = Promise.withResolvers<unknown>();
  disk.fails = ({ events }) => {
    if (!events?.events.some(({ type }) => type === 'cancelled')) return false;
    const refused = assert.rejects(run.decide(), { code: 'CONFLICT' });
    late.resolve(refused.then(() => store.db.selectFrom('approvals').select('status').execute()));
    return false;
  };
  await run.gateway.mainWorkstream().cancel({ force: false });
  assert.deepEqual(await late.promise, [{ status: 'cancelled' }]);
});

test('an expiry that could not be stored is retried until it is', async () => {
  await using run = await asking();
  run.gateway.disk.fails = () => true;
  await run.gateway.clock.advance(3_600_000);
  assert.equal((await run.pending()).length, 1);
  run.gateway.disk.fails = undefined;
  await run.gateway.clock.advance(1_000);
  await run.handle?.ended;
  const rows = await run.gateway.store.db.selectFrom('approvals').select(['status', 'feedback']).execute();
  assert.deepEqual(rows, [{ status: 'expired', feedback: 'Approval timed out after 1 hour' }]);
});

test('"always" enables auto-approve together with an approval; with a denial it does nothing', async () => {
  await using denied = await asking();
  await denied.decide({ approved: false, always: true });
  await denied.handle?.ended;
  assert.equal(denied.gateway.mainWorkstream().data.always, undefined);
  await using run = await asking();
  await run.decide({ always: true });
  const row = await run.gateway.store.db
    .selectFrom('workstreams')
    .select(['always_by', 'always_until_ms'])
    .executeTakeFirst();
  const always = { by: 'ada', untilMs: 1_000_000 + 28_800_000 };
  assert.deepEqual(row, { always_by: always.by, always_until_ms: always.untilMs });
  assert.deepEqual(run.gateway.mainWorkstream().data.always, always);
  await run.handle?.ended;
  const events = await run.gateway.events(await run.gateway.main());
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'settings_changed' ? [event.skip_permissions] : [])),
    [true],
  );
  run.gateway.puppet.turn(calling('touch'));
  assert.equal((await (await run.gateway.accept('again'))?.ended)?.status, 'ok');
});

test('a delta that could not be stored fails the run, and the text so far is kept as partial', async () => {
  await using gateway = await wholeGateway();
  gateway.disk.fails = ({ events, statements }) => events?.events[0]?.type === 'content' && statements === undefined;
  const gate = Promise.withResolvers<void>();
  gateway.puppet.turn('Hello', gate.promise);
  const handle = await gateway.accept('a');
  await gateway.reaches(await gateway.main(), 'thinking_stop');
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate); // the delta fails meanwhile
  gate.resolve();
  const result = await handle?.ended;
  assert.deepEqual([result?.status, result?.error], ['error', 'Cannot write to the disk']);
  const { data } = gateway.mainWorkstream();
  const stored = await gateway.parts.messages.page(data.wsId, { after: 0, upTo: data.messageCount, limit: 10 });
  assert.deepEqual(stored.at(-1)?.message, { role: 'assistant', content: 'Hello', toolCalls: [], partial: true });
});

test('after a delta that could not be stored the model is not read further, and the log has no gap', async () => {
  await using gateway = await wholeGateway();
  const [lost, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  gateway.puppet.turn('a', lost.promise, 'b', back.promise, 'c', never());
  const handle = await gateway.accept('go');
  await gateway.reaches(await gateway.main(), 'content');
  gateway.disk.fails = () => true;
  lost.resolve();
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  gateway.disk.fails = undefined;
  back.resolve();
  assert.equal((await handle?.ended)?.status, 'error');
  const events = await gateway.events(await gateway.main());
  const said = events.flatMap((event) => (event.type === 'content' ? [event.text] : []));
  assert.deepEqual(said, ['a', 'b']);
});

test('a tool continues while the store cannot be written; its output ends there, and its result follows', async () => {
  const [quiet, printed, lost] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  await using gateway = await wholeGateway({
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
  gateway.puppet.turn(calling('look'));
  const handle = await gateway.accept('go');
  await gateway.reaches(await gateway.main(), 'tool_output_chunk');
  gateway.disk.fails = () => true;
  quiet?.resolve();
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  gateway.disk.fails = ({ events }) => events?.events.some(({ type }) => type === 'tool_result') ?? false;
  lost?.resolve();
  await printed?.promise;
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate); // the result is refused meanwhile
  await gateway.clock.advance(3_000);
  gateway.disk.fails = undefined;
  await gateway.clock.advance(1_000);
  assert.equal((await handle?.ended)?.status, 'ok');
  const told = (await gateway.events(await gateway.main())).flatMap((event) => {
    if (event.type === 'tool_output_chunk') return [`chunk ${event.chunk}`];
    return event.type === 'tool_result' ? [`result ${event.output}`] : [];
  });
  assert.deepEqual(told, ['chunk 1\n', 'result 1\n2\n3\n']);
});

test('writes of an older epoch are refused', async () => {
  await using run = await asking();
  const { store } = run.gateway;
  await store.commit({ statements: [{ sql: 'UPDATE workstreams SET run_epoch = run_epoch + 1', parameters: [] }] });
  const before = await run.gateway.events(await run.gateway.main());
  await assert.rejects(run.decide(), { code: 'CONFLICT' });
  assert.deepEqual(await run.gateway.events(await run.gateway.main()), before);
});

test('a run that takes too long is stopped; time waiting for a person does not count', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(calling('touch'));
  gateway.puppet.turn('Hel', never());
  const handle = await gateway.parts.runs.accept(gateway.mainWorkstream(), {
    ...{ message: 'a', principal: 'ada', rights: 'approve', source: 'person' },
    request: { timeoutMs: 3_000 },
  });
  await gateway.reaches(await gateway.main(), 'approve_request');
  await gateway.clock.advance(60_000);
  await gateway.call('workstream.approve', { wsId: await gateway.main(), approved: true });
  await gateway.reaches(await gateway.main(), 'content');
  await gateway.clock.advance(5_000);
  const result = await handle?.ended;
  assert.deepEqual([result?.status, result?.error], ['timeout', 'The run took longer than 3 s']);
  assert.equal(gateway.mainWorkstream().data.state, 'error');
});

test('a run that takes too long because its model is away ends with the reason', async () => {
  await using gateway = await wholeGateway();
  const error = new ProviderError('unreachable', 'Could not reach lab (ECONNREFUSED).', { retryable: true });
  const pause = { error, untilMs: gateway.clock.now() + 60_000, attempt: 2, attempts: 15 };
  gateway.puppet.turn(async (patience, signal) => patience?.wait(pause, signal));
  const { ended } = await gateway.parts.runs.accept(gateway.mainWorkstream(), {
    ...{ message: 'a', principal: 'ada', rights: 'approve', source: 'person' },
    request: { timeoutMs: 3_000 },
  });
  await gateway.reaches(await gateway.main(), 'wait_start');
  await gateway.clock.advance(5_000);
  const reason = 'because its model did not answer: Could not reach lab (ECONNREFUSED).';
  assert.equal((await ended).error, `The run took longer than 3 s, ${reason}`);
});

test('a question of another workstream is not decided here', async () => {
  await using run = await asking();
  const { wsId } = await run.gateway.call('workstream.create', { name: 'other' });
  const { approvalId } = run;
  const elsewhere = { wsId, approvalId, approved: true };
  assert.equal((await run.gateway.refusal('workstream.approve', elsewhere)).code, 'NOT_FOUND');
  assert.equal((await run.pending()).length, 1);
  assert.deepEqual(await run.gateway.call('approval.list', { wsId }), { approvals: [] });
});
