import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { LIVE } from '../testing/default-deps.ts';
import { calling } from '../testing/puppet-model.ts';
import type { WholeGatewayOptions } from '../testing/whole-gateway.ts';
import { HOLD_MS, openStream, settle, streamingGateway } from './stream-fixture.ts';

const FILE = { path: '/project/AGENTS.md', text: 'Be brief.', digest: 'd1' };

/** A folder that nobody trusts. */
const UNTRUSTED: WholeGatewayOptions = {
  surroundings: {
    look: async () => ({ date: '2026-11-26', zone: 'UTC', instructions: { files: [], untrusted: [FILE] } }),
  },
};
/** Used up after the first run. */
const SMALL_BUDGET: WholeGatewayOptions = { live: { ...LIVE, budgets: { workstream: { tokens: 50 } } } };

type Streaming = Awaited<ReturnType<typeof streamingGateway>>;

/** The questions that a new client gets, by every way of opening a stream. */
async function askedIn({ gateway, wsId }: Streaming): Promise<Record<string, string[]>> {
  const { cursor = '' } = await gateway.call('workstream.history', { wsId, withCursor: true });
  const ways = {
    'a new stream': {},
    'with a snapshot': { snapshot: true },
    'with a short history': { history: 1 },
    'to resume, without a cursor': { resume: true },
    'from the cursor of a history': { resume: true, lastEventId: cursor },
  };
  const asked: Record<string, string[]> = {};
  for (const [way, request] of Object.entries(ways)) {
    const stream = await openStream(gateway, wsId, request);
    await stream.begun;
    await settle();
    const events = stream.told.map(({ json }): StreamEvent => JSON.parse(json));
    asked[way] = events.flatMap((event) => (event.type === 'approve_request' ? event.approval_id : []));
    const state = events.findLast((event) => event.type === 'ws_state');
    assert.equal(state?.state, 'attention', way);
    await stream.leave();
  }
  const { snapshot } = await gateway.call('workstream.get', { wsId });
  asked['a snapshot'] = snapshot.pendingApprovals.map(({ approvalId }) => approvalId);
  return asked;
}

const CASES = {
  tools: { options: {}, runsBefore: 0, turn: calling('touch') },
  instructions: { options: UNTRUSTED, runsBefore: 0, turn: 'ok' },
  budget: { options: SMALL_BUDGET, runsBefore: 1, turn: 'ok' },
} as const;

test('A stream that opens while a question is pending must contain the question once, also before the first answer of a run and after a crash', async () => {
  for (const [kind, { options, runsBefore, turn }] of Object.entries(CASES)) {
    await using streaming = await streamingGateway(options);
    const { gateway, wsId, unread, send } = streaming;
    for (let run = 0; run < runsBefore; run += 1) await unread();
    gateway.puppet.turn(turn);
    await send('go');
    await gateway.reaches(wsId, 'approve_request');
    const { approvals } = await gateway.call('approval.list', { wsId });
    const [approval] = approvals;
    assert.equal(approval?.kind, kind);
    const isAsked = (asked: Record<string, string[]>) =>
      assert.deepEqual(asked, Object.fromEntries(Object.keys(asked).map((way) => [way, [approval.approvalId]])));
    isAsked(await askedIn(streaming));
    await gateway.crash();
    isAsked(await askedIn(streaming));
  }
});

test('the replay of a run leaves out a decided question that was not about calls', async () => {
  await using streaming = await streamingGateway(SMALL_BUDGET);
  const { gateway, wsId, unread, send, open } = streaming;
  await unread();
  await send('go');
  await gateway.reaches(wsId, 'approve_request');
  const { approvals } = await gateway.call('approval.list', { wsId });
  await gateway.call('approval.resolve', { approvalId: approvals[0]?.approvalId ?? '', approved: true });
  await gateway.isIdle(wsId);
  const stream = await open();
  await settle();
  await gateway.clock.advance(HOLD_MS);
  await stream.begun;
  const types = stream.types();
  assert.deepEqual([types[0], types.filter((type) => type === 'approval_resolved').length], ['history', 1]);
  assert.deepEqual(
    types.filter((type) => type === 'tool_info' || type === 'approve_request'),
    [],
  );
  await stream.leave();
});
