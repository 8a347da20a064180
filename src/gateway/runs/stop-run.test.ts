import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolOutcome } from '../../agent/tools/tool.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { shapesOf, turnsUntil, wholeGateway } from '../testing/whole-gateway.ts';

/** Tools that ignore every signal, and the names of the started ones. */
function stuck(outcome = new Promise<ToolOutcome>(() => undefined)) {
  const started: string[] = [];
  const execute = (tool: string) => {
    started.push(tool);
    return outcome;
  };
  return { started, execute };
}

test('a tool that ignores a cancel is abandoned after five seconds, and its output is ignored', async () => {
  const late = Promise.withResolvers<ToolOutcome>();
  const { started, execute } = stuck(late.promise);
  await using gateway = await wholeGateway({ execute });
  gateway.puppet.turn(calling('look'));
  await gateway.accept('a');
  await turnsUntil(() => started.includes('look'), 'the tool');
  const cancelled = gateway.mainWorkstream().cancel({ force: false });
  await new Promise(setImmediate);
  await gateway.clock.advance(5_000);
  assert.deepEqual((await cancelled).stoppedTools, ['look']);
  const { wsId } = gateway.mainWorkstream().data;
  const before = await gateway.events(wsId);
  assert.deepEqual(shapesOf(before).slice(-2), ['stream_end', 'ws_state idle']);
  late.resolve({ output: 'too late', outcome: 'done' });
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  assert.deepEqual(await gateway.events(wsId), before);
  assert.equal((await (await gateway.accept('b', { ifIdle: true }))?.ended)?.status, 'ok');
});

test('a force cancel that could not be stored leaves the end to the worker', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hel', never());
  const a = await gateway.accept('a');
  await gateway.reaches(await gateway.main(), 'content');
  gateway.disk.fails = () => true;
  assert.equal((await gateway.mainWorkstream().cancel({ force: true })).wasRunning, true);
  gateway.disk.fails = undefined;
  await gateway.clock.advance(1_000);
  assert.equal((await a?.ended)?.status, 'cancelled');
  assert.equal(gateway.mainWorkstream().busy, false);
});

test('two simultaneous force cancels act as one', async () => {
  const { started, execute } = stuck();
  await using gateway = await wholeGateway({ execute });
  gateway.puppet.turn(calling('look'));
  await gateway.accept('a');
  await turnsUntil(() => started.includes('look'), 'the tool');
  const main = gateway.mainWorkstream();
  await Promise.all([main.cancel({ force: true }), main.cancel({ force: true })]);
  await main.cancel({ force: true });
  const events = await gateway.events(main.data.wsId);
  assert.deepEqual(
    shapesOf(events).filter((shape) => shape === 'ws_state idle'),
    ['ws_state idle'],
  );
});

test('a force cancel during a decision ends the run once', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(calling('touch'));
  const a = await gateway.accept('a');
  await gateway.reaches(await gateway.main(), 'approve_request');
  const [pending] = (await gateway.call('approval.list', {})).approvals;
  const decided = gateway.call('approval.resolve', { approvalId: pending?.approvalId ?? '', approved: true });
  await gateway.mainWorkstream().cancel({ force: true });
  await decided;
  assert.equal((await a?.ended)?.status, 'cancelled');
  const wsId = await gateway.main();
  assert.deepEqual(
    [gateway.mainWorkstream().busy, (await gateway.events(wsId)).at(-1)],
    [false, { type: 'ws_state', ws_id: wsId, state: 'idle', run: { run_id: a?.run.runId, status: 'cancelled' } }],
  );
  const approvals = await gateway.store.db.selectFrom('approvals').select(['status', 'decided_by']).execute();
  assert.deepEqual(approvals, [{ status: 'approved', decided_by: 'ada' }]);
});

test('a force cancel while an answer is recorded keeps the answer once, and every call gets its result', async () => {
  await using gateway = await wholeGateway();
  const { messages } = gateway.parts;
  let cancelled: Promise<unknown> | undefined;
  gateway.disk.fails = ({ events }) => {
    if (events?.events.some(({ type }) => type === 'status'))
      cancelled ??= gateway.mainWorkstream().cancel({ force: true });
    return false;
  };
  gateway.puppet.turn('Let me see.', calling('look'));
  const a = await gateway.accept('a');
  assert.equal((await a?.ended)?.status, 'cancelled');
  await cancelled;
  const { wsId, messageCount } = gateway.mainWorkstream().data;
  const stored = await messages.page(wsId, { after: 0, upTo: messageCount, limit: 10 });
  assert.deepEqual(
    stored.map(({ message }) =>
      message.role === 'tool' ? `tool: ${message.output}` : `${message.role}: ${message.content}`,
    ),
    ['user: a', 'assistant: Let me see.', 'tool: Cancelled by user'],
  );
});

test('a cancel that comes while the daemon stops is recorded at once, and delays neither', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hel', never());
  await gateway.accept('a');
  const wsId = await gateway.main();
  await gateway.reaches(wsId, 'content');
  const main = gateway.mainWorkstream();
  const stopped = main.shutdown();
  assert.equal((await main.cancel({ force: false })).wasRunning, true);
  await stopped;
  const [run] = await gateway.store.db.selectFrom('runs').select('status').where('ws_id', '=', wsId).execute();
  assert.equal(run?.status, 'cancelled');
  assert.deepEqual(shapesOf(await gateway.events(wsId)).slice(-1), ['ws_state idle']);
});
