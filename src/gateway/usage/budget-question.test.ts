import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exported } from '../portable/portable-fixture.ts';
import { LIVE } from '../testing/default-deps.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { type WholeGateway, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';

/** Every turn of the puppet uses 100 tokens. */
const withBudget = (tokens: number, options: WholeGatewayOptions = {}) =>
  wholeGateway({ live: { ...LIVE, budgets: { workstream: { tokens } } }, ...options });

async function asked(gateway: WholeGateway, wsId: string, count = 1) {
  await gateway.reaches(wsId, 'approve_request', count);
  const { approvals } = await gateway.call('approval.list', {});
  return approvals[0] ?? assert.fail('no question');
}

async function say(gateway: WholeGateway, wsId: string, message: string): Promise<void> {
  await gateway.call('workstream.send', { wsId, message });
}

/** The first turn uses up a small budget, and the second one asks. */
async function useUp(gateway: WholeGateway, wsId: string): Promise<void> {
  await say(gateway, wsId, 'one');
  await gateway.isIdle(wsId);
  await say(gateway, wsId, 'two');
}

test('a used-up budget asks a person before the next call, and goes on with what they grant', async () => {
  await using gateway = await withBudget(150);
  const wsId = await gateway.main();
  for (const message of ['one', 'two']) {
    await say(gateway, wsId, message);
    await gateway.isIdle(wsId);
  }
  await say(gateway, wsId, 'three');
  const { approvalId, kind, items, budget } = await asked(gateway, wsId);
  assert.deepEqual([kind, items, gateway.puppet.requests.length], ['budget', [], 2]);
  const { more = 0, lastAnswer = 0 } = budget ?? {};
  assert.deepEqual(budget, { of: 'workstream', key: wsId, unit: 'tokens', limit: 150, spent: 200, more, lastAnswer });
  assert.ok(lastAnswer > 0);
  await gateway.call('approval.resolve', { approvalId, approved: true, always: true });
  await gateway.isIdle(wsId);
  assert.equal(gateway.puppet.requests.length, 3);
  const { budgets } = await gateway.call('budget.list', { wsId });
  assert.deepEqual(budgets, [{ of: 'workstream', key: wsId, unit: 'tokens', limit: 150 + more, spent: 300 }]);
  const { snapshot } = await gateway.call('workstream.get', { wsId });
  assert.equal(snapshot.workstream.skipPermissions, false, 'always is about tool calls');
  const notes = snapshot.notes?.map((note) => [
    note.kind,
    'message' in note ? note.message : 'question' in note && note.question,
  ]);
  assert.deepEqual(notes, [
    ['info', 'The budget of this workstream (150 tokens) is used up.'],
    ['decision', 'budget'],
  ]);
});

test('a person who declines ends the run with the reason, and the message can be sent again', async () => {
  await using gateway = await withBudget(50);
  const wsId = await gateway.main();
  await useUp(gateway, wsId);
  const { approvalId } = await asked(gateway, wsId);
  await gateway.call('approval.resolve', { approvalId, approved: false, feedback: 'too dear' });
  await gateway.isIdle(wsId);
  const error =
    'The budget of this workstream (50 tokens) is used up, and the run was stopped: too dear. Raise it with /budget, or with budgets.workstream in config.json.';
  const end = (await gateway.events(wsId)).findLast((event) => event.type === 'ws_state');
  const { run_id: _, ...run } = (end?.type === 'ws_state' && end.run) || assert.fail('no end');
  assert.deepEqual(run, { status: 'error', error, limit: 'budget', failed: { code: 'over_limit', text: error } });
  await gateway.call('budget.set', { wsId, tokens: 1_000 });
  await gateway.call('workstream.retry', { wsId });
  await gateway.isIdle(wsId);
  assert.equal(gateway.puppet.requests.length, 2);
  const file = await exported(gateway, wsId);
  const decisions = file.notes.filter(({ kind }) => kind === 'decision');
  assert.deepEqual(decisions, [], 'a file says nothing about the budgets of this machine');
});

test('a question about a budget expires like others', async () => {
  await using gateway = await withBudget(50);
  const wsId = await gateway.main();
  await useUp(gateway, wsId);
  await asked(gateway, wsId);
  await gateway.clock.advance(LIVE.approvalMs);
  await gateway.isIdle(wsId);
  const end = (await gateway.events(wsId)).findLast((event) => event.type === 'ws_state');
  assert.match((end?.type === 'ws_state' && end.run?.error) || '', /is used up, and nobody decided in time/);
});

test('the question and what was granted survive a kill; the question is not asked twice', async () => {
  await using gateway = await withBudget(50);
  const wsId = await gateway.main();
  await say(gateway, wsId, 'one');
  await gateway.isIdle(wsId);
  gateway.puppet.turn(calling('look'));
  await say(gateway, wsId, 'two');
  const before = await asked(gateway, wsId);
  await gateway.crash();
  const { approvals } = await gateway.call('approval.list', {});
  const { expiresAtMs: _, ...same } = before;
  assert.deepEqual(
    approvals.map(({ expiresAtMs, ...approval }) => approval),
    [same],
  );
  await gateway.call('approval.resolve', { approvalId: before.approvalId, approved: true });
  await gateway.isIdle(wsId);
  await gateway.crash();
  assert.equal(gateway.puppet.requests.length, 3);
  const [state] = (await gateway.call('budget.list', { wsId })).budgets;
  assert.deepEqual([state?.limit, state?.spent], [50 + (before.budget?.more ?? 0), 300]);
});

test('a grant that is not stored is not used: the question stays', async () => {
  await using gateway = await withBudget(50);
  const wsId = await gateway.main();
  await useUp(gateway, wsId);
  const { approvalId } = await asked(gateway, wsId);
  gateway.disk.diesAt = ({ statements = [] }) => statements.some(({ sql }) => sql.includes('budget_grants'));
  void gateway.call('approval.resolve', { approvalId, approved: true }).catch(() => undefined);
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  await gateway.crash();
  assert.equal((await asked(gateway, wsId)).approvalId, approvalId);
  assert.equal((await gateway.call('budget.list', { wsId })).budgets[0]?.limit, 50);
});

test('a call that a kill interrupted counts, and the run continues', async () => {
  await using gateway = await withBudget(1_000_000);
  const wsId = await gateway.main();
  gateway.puppet.turn('half', never());
  await say(gateway, wsId, 'one');
  await gateway.reaches(wsId, 'content');
  await gateway.crash();
  await gateway.isIdle(wsId);
  const [row] = (await gateway.call('usage.get', { by: 'workstream' })).rows;
  assert.deepEqual([row?.turns, (row?.estimatedTokens ?? 0) > 0], [1, true]);
});

test('a cancelled call counts, too', async () => {
  await using gateway = await withBudget(1_000_000);
  const wsId = await gateway.main();
  gateway.puppet.turn('half', never());
  await say(gateway, wsId, 'one');
  await gateway.reaches(wsId, 'content');
  await gateway.call('workstream.cancel', { wsId });
  await gateway.isIdle(wsId);
  const [row] = (await gateway.call('usage.get', { by: 'workstream' })).rows;
  assert.deepEqual([row?.turns, (row?.estimatedTokens ?? 0) > 0], [0, true]);
});

test('only approvers set budgets, of workstreams that exist', async () => {
  await using gateway = await withBudget(50);
  const wsId = await gateway.main();
  assert.equal((await gateway.refusal('budget.set', { wsId, tokens: 1 }, { scope: 'write' })).code, 'FORBIDDEN');
  assert.equal((await gateway.refusal('budget.set', { wsId: 'nobody', tokens: 1 })).code, 'NOT_FOUND');
  assert.equal((await gateway.refusal('budget.set', { wsId, tokens: 0 })).code, 'INVALID_REQUEST');
});

test('an approval may name the pseudo call by which HTTP clients know a question about a budget', async () => {
  await using gateway = await withBudget(50);
  const wsId = await gateway.main();
  await useUp(gateway, wsId);
  await asked(gateway, wsId);
  const refused = await gateway.refusal('workstream.approve', { wsId, approved: true, callId: 'call_1' });
  assert.deepEqual([refused.code, refused.message], ['CONFLICT', 'stale call_id']);
  await gateway.call('workstream.approve', { wsId, approved: true, callId: '__budget_override__' });
  await gateway.isIdle(wsId);
  assert.equal(gateway.puppet.requests.length, 2);
});

test('an info warns once when a budget is used to four fifths, and again when its limit was raised', async () => {
  await using gateway = await withBudget(250);
  const wsId = await gateway.main();
  const infos = async () =>
    (await gateway.events(wsId)).flatMap((event) => (event.type === 'info' ? event.message : []));
  const warned: string[] = [];
  for (const [message, tokens] of [
    ['one', 250],
    ['two', 250],
    ['three', 220],
    ['four', 450],
    ['five', 480],
  ] as const) {
    await gateway.call('budget.set', { wsId, tokens });
    await say(gateway, wsId, message);
    await gateway.isIdle(wsId);
    warned.push(`${message}: ${(await infos()).join(' ')}`);
  }
  const first = 'The budget of this workstream (220 tokens) is 90% used.';
  const next = 'The budget of this workstream (480 tokens) is 83% used.';
  assert.deepEqual(warned, ['one: ', 'two: ', `three: ${first}`, `four: ${first}`, `five: ${first} ${next}`]);
});
