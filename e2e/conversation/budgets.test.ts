import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say, stall, useTokens } from '../support/model/scripted-steps.ts';

const LIMIT = 60_000;
const CALL = 5_000;
const RUNS = 50;

/** Resolves when so many workstreams wait for a person. */
async function untilWaiting(client: GatewayClient, count: () => number): Promise<string[]> {
  for (;;) {
    const { workstreams } = await client.call('workstream.list', {});
    const waiting = workstreams.filter(({ state }) => state === 'attention');
    if (waiting.length >= count()) return waiting.map(({ wsId }) => wsId);
    await pause(50); // no event tells of it, and a client that asks without pause is refused
  }
}

test('50 runs at once keep to a budget, also over kill -9, ask one question, and follow one answer', async () => {
  await using upstream = await startScriptedModel();
  const stalled = [stall(), stall(), stall()];
  upstream.onRequest(() => {
    // The requests 4 to 6 are in flight when the daemon is killed.
    const stuck = stalled[upstream.requests.length - 5];
    return [...(stuck ? [stuck] : []), useTokens({ prompt: CALL - 300, completion: 300 }), say('done')];
  });
  const lab = { provider: 'openai-compatible', baseUrl: upstream.url, model: 'scripted', maxOutputTokens: 300 };
  await using daemon = await startDaemon({
    config: {
      models: { lab },
      defaultModel: 'lab',
      budgets: { day: { tokens: LIMIT } },
      server: { maxWorkstreams: RUNS + 5 },
    },
    env: { HEADGATE_MODEL: 'lab' },
  });
  const before = await daemon.client();
  const sent = Array.from({ length: RUNS }, (_, n) =>
    before.call('chat.send', { sessionKey: `s${n}`, message: 'go', idempotencyKey: `run-${n}` }),
  );
  await Promise.all(sent);
  await Promise.all(stalled.map(({ reached }) => reached));
  await daemon.kill9();
  await daemon.restart();
  const client = await daemon.client();
  const lost = stalled.length;
  const answered = () => upstream.requests.length - lost;
  let told = 0;
  client.on('approval.requested', () => {
    told += 1;
  });
  const waiting = await untilWaiting(client, () => RUNS - answered());
  const { approvals } = await client.call('approval.list', {});
  const made = upstream.requests.length;
  assert.deepEqual([approvals.length, told <= 1], [1, true]);
  assert.ok(made * CALL <= LIMIT + CALL && made >= 8, `${made} requests`);
  const [first] = approvals;
  assert.deepEqual([first?.kind, first?.items, first?.budget?.of, first?.budget?.limit], ['budget', [], 'day', LIMIT]);
  const { body } = await daemon.get(`/v1/api/workstreams/${waiting[0]}`);
  assert.deepEqual(
    body.pending_approval.items.map(({ func_name }: { func_name: string }) => func_name),
    ['__budget_override__'],
  );
  const [row] = (await client.call('usage.get', {})).rows;
  const estimated = row?.estimatedTokens ?? 0;
  assert.ok(estimated >= lost * CALL, 'calls without an answer count at least like the others');
  assert.equal((row?.inputTokens ?? 0) + (row?.outputTokens ?? 0), estimated + answered() * CALL);
  for (const wsId of waiting) {
    const { snapshot } = await client.call('workstream.get', { wsId });
    const pending = snapshot.pendingApprovals.map(({ approvalId, budget }) => [approvalId, budget?.of]);
    assert.deepEqual(pending, [[first?.approvalId, 'day']]);
  }
  await daemon.kill9();
  await daemon.restart();
  const again = await daemon.client();
  const same = (await again.call('approval.list', {})).approvals;
  assert.deepEqual(
    same.map(({ approvalId }) => approvalId),
    [first?.approvalId],
  );
  await again.call('approval.resolve', { approvalId: first?.approvalId ?? '', approved: true });
  await upstream.request(made);
  const { budgets } = await again.call('budget.list', {});
  assert.equal(budgets[0]?.limit, LIMIT + (first?.budget?.more ?? 0));
});
