import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TRANSIENT_EVENTS } from '../../../protocol/events/transient.ts';
import { type Attachment, StreamEvent } from '../../../protocol/stream-events.ts';
import { toSseFrames, withWorkstream } from './sse-frames.ts';

const WS_ID = '3f2a9c1b5d7e4f60a1b2c3d4e5f60718';

/** The data of the frames without an id, and of the last frame, which has it. */
function allSent(event: StreamEvent): { before: unknown[]; last: Record<string, unknown> } {
  const text = toSseFrames({ wsId: WS_ID, cursor: 'k3Jd:41', type: event.type }, JSON.stringify(event));
  const frames = text.split('\n\n').slice(0, -1);
  const [id, data = ''] = (frames.pop() ?? '').split('\ndata: ');
  assert.equal(id, 'id: k3Jd:41');
  return { before: frames.map((frame) => JSON.parse(frame.replace(/^data: /, ''))), last: JSON.parse(data) };
}

const sent = (event: StreamEvent) => allSent(event).last;

test('every event has the id of its workstream exactly once', () => {
  const state = { type: 'ws_state', ws_id: WS_ID, state: 'idle' } as const;
  const events: StreamEvent[] = [
    { type: 'thinking_start' },
    { type: 'content', text: '"}' },
    { type: 'clear_ui', after_seq: 3 },
    { type: 'ws_rename', ws_id: WS_ID, name: 'n' },
    state,
  ];
  for (const event of events) assert.deepEqual(sent(event), { ...event, ws_id: WS_ID });
  assert.equal(withWorkstream({ wsId: WS_ID, type: 'ws_state' }, JSON.stringify(state)), JSON.stringify(state));
});

test('`user_turn` must have its text as `content`, and its `attachments`, `sender` and `client_send_ids`, also if they are empty', () => {
  const stored = { type: 'user_turn', message: 'hi', run_id: 'r', source: 'person' } as const;
  const usual = { ...stored, content: 'hi', ws_id: WS_ID };
  assert.deepEqual(sent(stored), { ...usual, attachments: [], sender: '', client_send_ids: [] });
  const attachments: Attachment[] = [
    { attachment_id: 'a', filename: 'f', mime_type: 'text/plain', size_bytes: 1, kind: 'text' },
  ];
  const more = { attachments, sender: 'user_1', client_send_ids: ['k'] };
  assert.deepEqual(sent({ ...stored, ...more }), { ...usual, ...more });
});

test('A question and its decision must have the id of the approval as `cycle_id`, too', () => {
  const asked = StreamEvent.parse({
    ...{ type: 'approve_request', items: [], approval_id: 'apr_1', kind: 'tools', expires_at_ms: 1 },
  });
  const by = { kind: 'timeout' } as const;
  const resolved: StreamEvent = {
    ...{ type: 'approval_resolved', approval_id: 'apr_1', approved: false, feedback: '', by, always: false },
    call_ids: ['call_1'],
  };
  for (const event of [asked, resolved]) assert.deepEqual(sent(event), { ...event, cycle_id: 'apr_1', ws_id: WS_ID });
});

test('A question about a budget must have the pseudo call `__budget_override__` as its only item, and so must its decision', () => {
  const budget = { of: 'day', key: '2026-11-26', unit: 'tokens', limit: 1_000, spent: 1_200, more: 2_000 } as const;
  const asked = { type: 'approve_request', approval_id: 'apr_1', kind: 'budget', expires_at_ms: 1, budget } as const;
  const id = '__budget_override__';
  const item = {
    ...{ call_id: id, func_name: id, approval_label: id, needs_approval: true, error: null },
    header: 'Continue with 2,000 tokens more?',
    preview: 'The budget of today (1,000 tokens) is used up: 1,200 tokens.',
  };
  const told = { cycle_id: 'apr_1', ws_id: WS_ID };
  assert.deepEqual(sent({ ...asked, items: [] }), { ...asked, items: [item], ...told });
  const by = { kind: 'timeout' } as const;
  const resolved = {
    type: 'approval_resolved',
    approval_id: 'apr_1',
    approved: false,
    feedback: '',
    by,
    always: false,
  } as const;
  assert.deepEqual(sent({ ...resolved, call_ids: [] }), { ...resolved, call_ids: [id], ...told });
});

test('`state_change` must have the user whose message the run answers as `acting_user_id`, also if it is empty', () => {
  const thinking = { type: 'ws_state', ws_id: WS_ID, state: 'thinking' } as const;
  const ofUser = { ...thinking, acting_user_id: 'user_1' };
  assert.deepEqual(allSent(thinking).before, [{ ...thinking, type: 'state_change', acting_user_id: '' }]);
  assert.deepEqual(allSent(ofUser), { before: [{ ...ofUser, type: 'state_change' }], last: ofUser });
  const { before } = allSent({ ...ofUser, state: 'error', run: { run_id: 'r', status: 'error' } });
  assert.deepEqual(before.at(-1), { ...ofUser, type: 'state_change', state: 'idle' });
});

test('`compacted` must also be sent under its later name: before it, as the `end` of a `compaction`', () => {
  const stored = {
    type: 'compacted',
    to_seq: 4,
    messages: 4,
    summary: 'S',
    before_tokens: 9,
    after_tokens: 3,
  } as const;
  const { type: _, ...summary } = stored;
  const end = { type: 'compaction', ws_id: WS_ID, target: 'workstream', phase: 'end', ok: true, ...summary };
  const { before, last } = allSent(stored);
  assert.deepEqual([before, last], [[end], { ...stored, ws_id: WS_ID }]);
  for (const event of before) TRANSIENT_EVENTS.compaction.parse(event);
});
