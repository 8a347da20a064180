import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecidedBy, HistoryMessage, StreamEvent } from '../../../../protocol/stream-events.ts';
import { foldEvent } from './conversation.ts';
import { busy, fold, item, lines, snapshot } from './conversation-fixture.ts';

const asked: StreamEvent = {
  type: 'approve_request',
  approval_id: 'q',
  kind: 'tools',
  expires_at_ms: 9,
  items: [item('1')],
};
const resolved = (approved: boolean, feedback = '', by: DecidedBy = { kind: 'principal', id: 'ada' }): StreamEvent => ({
  type: 'approval_resolved',
  approval_id: 'q',
  approved,
  feedback,
  by,
  always: false,
  call_ids: ['1'],
});

test('an approved batch turns into its outcome and running cards', () => {
  const after = fold([
    asked,
    resolved(true),
    { type: 'tool_output_chunk', call_id: '1', chunk: 'one\n' },
    { type: 'tool_output_chunk', call_id: '1', chunk: '\u001b[32mtwo\u001b[0m\n' },
  ]);
  assert.deepEqual(lines(after), ['approval q approved', 'tool 1 running: one\ntwo\n']);
  const done = foldEvent(after, {
    type: 'tool_result',
    call_id: '1',
    name: 'bash',
    output: 'one\ntwo',
    outcome: 'done',
    is_error: false,
  });
  assert.deepEqual(lines(done), ['approval q approved', 'tool 1 done: one\ntwo']);
});

test('a denied batch shows its calls as denied', () => {
  const after = fold([
    asked,
    resolved(false, 'not now'),
    {
      type: 'tool_result',
      call_id: '1',
      name: 'bash',
      output: 'Denied by user: not now',
      outcome: 'denied',
      is_error: true,
    },
  ]);
  assert.deepEqual(lines(after), ['approval q denied', 'tool 1 denied: Denied by user: not now']);
});

test('a call refused by a job’s policy is shown as blocked', () => {
  const output = 'Not run: no approver was available, and the job’s policy is deny.';
  const after = fold([
    { type: 'tool_info', items: [item('1')] },
    { type: 'tool_result', call_id: '1', name: 'bash', output, outcome: 'blocked', is_error: true },
  ]);
  assert.deepEqual(lines(after), [`tool 1 blocked: ${output}`]);
});

test('a question in the snapshot and the same question in the log are one', () => {
  const pending = {
    approvalId: 'q',
    wsId: 'w',
    sessionKey: 'main',
    kind: 'tools' as const,
    items: [item('1')],
    expiresAtMs: 9,
  };
  const messages: HistoryMessage[] = [
    { seq: 1, role: 'assistant', content: 'I will', tool_calls: [{ id: '1', name: 'bash', arguments: '{}' }] },
  ];
  const from = snapshot({
    workstream: { ...busy.workstream, state: 'attention' },
    messages,
    pendingApprovals: [pending],
  });
  assert.deepEqual(lines(fold([asked], from)), ['answer I will', 'approval q pending']);
});

test('a question in the snapshot moves after its turn once that is replayed', () => {
  const pending = {
    approvalId: 'q',
    wsId: 'w',
    sessionKey: 'main',
    kind: 'tools' as const,
    items: [item('1')],
    expiresAtMs: 9,
  };
  const from = snapshot({ workstream: { ...busy.workstream, state: 'attention' }, pendingApprovals: [pending] });
  const replayed = fold(
    [{ type: 'thinking_start' }, { type: 'content', text: 'I will' }, { type: 'stream_end' }],
    from,
  );
  assert.deepEqual(lines(foldEvent(replayed, asked)), ['answer I will', 'approval q pending']);
});

test('a cancel withdraws the question and stops its calls', () => {
  const after = fold([
    asked,
    resolved(false, 'Cancelled by user', { kind: 'cancel' }),
    {
      type: 'tool_result',
      call_id: '1',
      name: 'bash',
      output: 'Cancelled by user',
      outcome: 'cancelled',
      is_error: true,
    },
    { type: 'cancelled' },
    { type: 'stream_end' },
    { type: 'ws_state', ws_id: 'w', state: 'idle' },
  ]);
  assert.deepEqual(lines(after), ['approval q withdrawn', 'tool 1 cancelled: Cancelled by user']);
});

test('a question not decided in time has expired, whatever its feedback says', () => {
  const feedback = 'Approval timed out after 1 hour';
  const kinds = (by: DecidedBy) => lines(fold([asked, resolved(false, feedback, by)]));
  assert.deepEqual(kinds({ kind: 'timeout' }), ['approval q expired', 'tool 1 expired: ']);
  assert.deepEqual(kinds({ kind: 'shutdown' }), ['approval q withdrawn', 'tool 1 cancelled: ']);
  assert.deepEqual(kinds({ kind: 'principal', id: 'ada' }), ['approval q denied', 'tool 1 denied: ']);
});

test('a skipped call stays unknown after the run has ended', () => {
  const after = fold(
    [
      { type: 'tool_info', items: [item('1')] },
      { type: 'tool_output_chunk', call_id: '1', chunk: 'half\n' },
      { type: 'approve_request', approval_id: 'q', kind: 'outcome', expires_at_ms: 9, items: [item('1')] },
      resolved(false),
      {
        type: 'tool_result',
        call_id: '1',
        name: 'bash',
        output: 'Outcome unknown: Headgate stopped',
        outcome: 'unknown',
        is_error: true,
      },
      { type: 'ws_state', ws_id: 'w', state: 'idle' },
    ],
    busy,
  );
  assert.deepEqual(lines(after), ['tool 1 unknown: half\nOutcome unknown: Headgate stopped', 'approval q denied']);
});

test('a question about an unknown outcome keeps the first run visible as unknown', () => {
  const outcome: StreamEvent = {
    type: 'approve_request',
    approval_id: 'q',
    kind: 'outcome',
    expires_at_ms: 9,
    items: [item('1')],
  };
  const waiting = fold([{ type: 'tool_info', items: [item('1')] }, outcome], busy);
  assert.deepEqual(lines(waiting), ['tool 1 unknown: ', 'approval q pending']);
  const skipped = foldEvent(waiting, resolved(false));
  assert.deepEqual(lines(skipped), ['tool 1 unknown: ', 'approval q denied']);
  const again = foldEvent(waiting, resolved(true));
  assert.deepEqual(lines(again), ['tool 1 running: ', 'approval q approved']);
});

test('no cards follow a question about instructions', () => {
  const asked: StreamEvent = {
    ...{
      type: 'approve_request',
      approval_id: 'q',
      kind: 'instructions',
      expires_at_ms: 9,
      items: [item('/AGENTS.md')],
    },
  };
  const waiting = fold([asked], busy);
  assert.deepEqual([waiting, foldEvent(waiting, resolved(true)), foldEvent(waiting, resolved(false))].map(lines), [
    ['approval q pending'],
    ['approval q approved'],
    ['approval q denied'],
  ]);
});

for (const output of [
  'Denied by user 7 times',
  'Blocked: 3 threads',
  'Outcome unknown: 2',
  'Cancelled by user',
  '[cancelled]',
])
  test(`a call that only prints "${output}" is done, and one that fails with it has failed`, () => {
    for (const outcome of ['done', 'failed'] as const) {
      const result: StreamEvent = {
        ...{ type: 'tool_result', call_id: '1', name: 'bash', output, outcome, is_error: outcome !== 'done' },
      };
      assert.deepEqual(lines(fold([{ type: 'tool_info', items: [item('1')] }, result])), [
        `tool 1 ${outcome}: ${output}`,
      ]);
    }
  });

test('a call id reused in a later turn gets its own card', () => {
  const result: StreamEvent = {
    type: 'tool_result',
    call_id: '1',
    name: 'bash',
    output: 'ok',
    outcome: 'done',
    is_error: false,
  };
  const info: StreamEvent = { type: 'tool_info', items: [item('1')] };
  assert.deepEqual(lines(fold([info, result, info])), ['tool 1 done: ok', 'tool 1 running: ']);
});

test('an interrupted tool counts as stopped, not as failed', () => {
  const cut: StreamEvent = {
    type: 'tool_result',
    call_id: '1',
    name: 'bash',
    output: 'one\n[cancelled]',
    outcome: 'cancelled',
    is_error: true,
  };
  assert.deepEqual(lines(fold([{ type: 'tool_info', items: [item('1')] }, cut])), [
    'tool 1 cancelled: one\n[cancelled]',
  ]);
});

test('a malformed call is a failed card with its reason', () => {
  const after = fold([{ type: 'tool_info', items: [item('1', { error: 'arguments are no JSON' })] }]);
  assert.deepEqual(lines(after), ['tool 1 failed: arguments are no JSON']);
});

test('a cancel keeps the partial answer, withdraws the question and stops the tools', () => {
  const after = fold([
    { type: 'tool_info', items: [item('0')] },
    asked,
    { type: 'content', text: 'par' },
    { type: 'cancelled' },
    { type: 'stream_end' },
    { type: 'ws_state', ws_id: 'w', state: 'idle' },
  ]);
  assert.deepEqual(lines(after), ['tool 0 cancelled: ', 'approval q withdrawn', 'answer partial par']);
  assert.equal(after.state, 'idle');
});

test('the output of a running tool is limited, and dropped characters are counted', () => {
  const chunks = Array.from({ length: 1_000 }, (_, index): StreamEvent => {
    return { type: 'tool_output_chunk', call_id: '1', chunk: `${String(index).padStart(99, '.')}\n` };
  });
  const [tool] = fold([{ type: 'tool_info', items: [item('1')] }, ...chunks], busy).blocks;
  assert.ok(tool?.kind === 'tool');
  assert.ok(tool.live.length <= 40_000 && tool.live.endsWith('999\n'), `${tool.live.length} characters`);
  assert.equal(tool.live.length + tool.liveDropped, 100_000);
});

test('a question about a budget has no calls, and turns into its outcome', () => {
  const budget = { of: 'day', key: '2026-01-31', unit: 'tokens', limit: 10, spent: 12, more: 1_000 } as const;
  const after = fold([{ ...asked, kind: 'budget', items: [], budget }]);
  const question = after.blocks.at(-1);
  assert.deepEqual([question?.kind === 'approval' && question.budget, after.blocks.length], [budget, 1]);
  assert.deepEqual(lines(foldEvent(after, resolved(true))), ['approval q approved']);
});

test('a plan that waits or is revised leaves its call running, and its result ends the call', () => {
  const call = item('1', { func_name: 'plan_agent' });
  const plan = { ...asked, kind: 'plan' as const, items: [call] };
  const wanted = { ...resolved(false, 'smaller'), plan: 'revised' as const };
  const waiting = fold([{ type: 'tool_info', items: [call] }, plan]);
  assert.deepEqual(lines(waiting), ['tool 1 running: ', 'approval q pending']);
  const revised = foldEvent(waiting, wanted);
  assert.deepEqual(lines(revised), ['tool 1 running: ', 'approval q denied']);
});
