import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build, statementOf } from '../store/statements.ts';
import { LIVE } from '../testing/default-deps.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** Creates a pending approval in the session; returns its id. */
async function ask(gateway: WholeGateway, sessionKey = 'main'): Promise<{ approvalId: string; wsId: string }> {
  gateway.puppet.turn(calling('touch', { text: 'it' }), calling('look', {}, 'call_2'));
  await gateway.call('chat.send', { sessionKey, message: 'go', idempotencyKey: `ask ${sessionKey}` });
  const { sessions } = await gateway.call('sessions.list', {});
  const { workstreams } = await gateway.call('workstream.list', {});
  const wsId =
    workstreams.find(({ name }) => name === sessionKey)?.wsId ??
    sessions.find(({ key }) => key === sessionKey)?.sessionId ??
    assert.fail(`no session ${sessionKey}`);
  await gateway.reaches(wsId, 'approve_request');
  const { approvals } = await gateway.call('approval.list', { wsId });
  return { approvalId: approvals[0]?.approvalId ?? assert.fail('nothing waits'), wsId };
}

test('pending approvals are listed with everything that a person has to see, oldest first', async () => {
  await using gateway = await wholeGateway();
  assert.deepEqual(await gateway.call('approval.list', {}), { approvals: [] });
  const first = await ask(gateway);
  await gateway.clock.advance(1_000);
  const second = await ask(gateway, 'other');
  const { approvals } = await gateway.call('approval.list', {});
  const item = {
    call_id: 'call_touch',
    header: 'touch: it',
    subject: 'it',
    preview: '',
    func_name: 'touch',
    approval_label: 'touch',
    needs_approval: true,
    error: null,
  };
  const asked = {
    ...item,
    ruling: { verdict: 'ask', reason: 'tool' },
    rules: [{ id: 'tool', kind: 'tool', match: { tool: 'touch' }, terms: ['hour', 'conversation', 'always'] }],
  };
  const { subject: _, ...plain } = item;
  const beside = { ...plain, call_id: 'call_2', header: 'look', func_name: 'look', approval_label: 'look' };
  const items = [asked, { ...beside, needs_approval: false }];
  assert.deepEqual(approvals, [
    { ...first, sessionKey: 'main', kind: 'tools', items, expiresAtMs: 4_600_000, askedAtMs: 1_000_000 },
    { ...second, sessionKey: 'other', kind: 'tools', items, expiresAtMs: 4_601_000, askedAtMs: 1_001_000 },
  ]);
  const { approvals: ofOne } = await gateway.call('approval.list', { wsId: second.wsId });
  assert.deepEqual(ofOne, approvals.slice(1));
});

test('a decision is made once, and stored with its decider', async () => {
  await using gateway = await wholeGateway();
  const { approvalId, wsId } = await ask(gateway);
  const deny = { approvalId, approved: false, feedback: ' not today ' };
  assert.deepEqual(await gateway.call('approval.resolve', deny, { id: 'bob' }), {
    ok: true,
    approvalId,
    approved: false,
  });
  await gateway.isIdle(wsId);
  const decided = { code: 'CONFLICT', message: 'The approval was already decided' };
  assert.deepEqual(await gateway.refusal('approval.resolve', { approvalId, approved: true }), decided);
  await gateway.restart();
  assert.deepEqual(await gateway.refusal('approval.resolve', { approvalId, approved: true }), decided);
  const row = await gateway.store.db.selectFrom('approvals').selectAll().executeTakeFirstOrThrow();
  assert.deepEqual([row.status, row.feedback, row.decided_by], ['denied', 'not today', 'bob']);
  const results = (await gateway.events(wsId)).filter(({ type }) => type === 'tool_result');
  assert.equal(results.length, 2, 'a denial is for the whole batch');
});

test('an approval whose run is not there yet can be decided later', async () => {
  await using gateway = await wholeGateway();
  const { approvalId, wsId } = await ask(gateway);
  await gateway.call('approval.resolve', { approvalId, approved: false });
  await gateway.isIdle(wsId);
  const waiting = build.updateTable('approvals').set({ status: 'pending' }).where('approval_id', '=', approvalId);
  await gateway.store.commit({ statements: [statementOf(waiting)] });
  assert.deepEqual(await gateway.refusal('approval.resolve', { approvalId, approved: true }), {
    code: 'UNAVAILABLE',
    message: 'The run that asks this is not ready yet; retry',
  });
});

test('of two simultaneous decisions one counts', async () => {
  await using gateway = await wholeGateway();
  const { approvalId } = await ask(gateway);
  const settled = await Promise.allSettled(
    [true, false].map((approved) => gateway.call('approval.resolve', { approvalId, approved })),
  );
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
});

test('an unknown approval is NOT_FOUND', async () => {
  await using gateway = await wholeGateway();
  const refusal = await gateway.refusal('approval.resolve', { approvalId: 'apr_none', approved: true });
  assert.deepEqual(refusal, { code: 'NOT_FOUND', message: 'Unknown approval' });
});

test('a pending approval survives a restart with its id, and has at least ten minutes', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, approvalMs: 60_000 } });
  const { approvalId, wsId } = await ask(gateway);
  await gateway.restart();
  const { approvals } = await gateway.call('approval.list', {});
  assert.deepEqual(
    approvals.map((asked) => [asked.approvalId, asked.expiresAtMs]),
    [[approvalId, 1_600_000]],
  );
  await gateway.call('approval.resolve', { approvalId, approved: true });
  await gateway.isIdle(wsId);
  const requests = (await gateway.events(wsId)).filter(({ type }) => type === 'approve_request');
  assert.equal(requests.length, 1, 'nobody was asked twice');
});

test('an undecided approval is denied when it expires', async () => {
  await using gateway = await wholeGateway();
  const { approvalId, wsId } = await ask(gateway);
  await gateway.clock.advance(3_600_000);
  await gateway.isIdle(wsId);
  const result = (await gateway.events(wsId)).find(({ type }) => type === 'tool_result');
  assert.equal(result?.type === 'tool_result' && result.output, 'Approval timed out after 1 hour');
  assert.equal((await gateway.refusal('approval.resolve', { approvalId, approved: true })).code, 'CONFLICT');
});

test('deciding needs the approve scope', async () => {
  await using gateway = await wholeGateway();
  const { approvalId } = await ask(gateway);
  const write = { scope: 'write' } as const;
  for (const [method, params] of [
    ['approval.list', {}],
    ['approval.resolve', { approvalId, approved: true }],
    ['workstream.approve', { wsId: 'x', approved: true }],
  ] as const) {
    assert.equal((await gateway.refusal(method, params, write)).code, 'FORBIDDEN');
  }
});
