import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkstreamSnapshot } from '../../../../protocol/methods/workstream.ts';
import type { ApprovalItem, HistoryMessage, StreamEvent } from '../../../../protocol/stream-events.ts';
import type { Block } from './blocks.ts';
import { type Conversation, foldEvent, prependPage, toConversation } from './conversation.ts';

const item = (callId: string, more: Partial<ApprovalItem> = {}): ApprovalItem => ({
  call_id: callId,
  header: `bash: ${callId}`,
  preview: '',
  func_name: 'bash',
  approval_label: 'bash',
  needs_approval: true,
  error: null,
  ...more,
});

const snapshot = (more: Partial<WorkstreamSnapshot> = {}): WorkstreamSnapshot => ({
  workstream: {
    wsId: 'w',
    name: 'main',
    sessionKey: 'main',
    state: 'idle',
    title: null,
    modelAlias: 'demo',
    skipPermissions: false,
    messageCount: 0,
    createdMs: 1,
    updatedMs: 2,
  },
  model: 'demo',
  workdir: '/work',
  messages: [],
  truncated: false,
  pendingApprovals: [],
  ...more,
});

const busy = snapshot({ workstream: { ...snapshot().workstream, state: 'thinking' } });
const fold = (events: StreamEvent[], from: WorkstreamSnapshot = snapshot()): Conversation =>
  events.reduce(foldEvent, toConversation(from));

/** Blocks in one line each, so that a test can compare the whole conversation. */
const lines = ({ blocks }: Conversation) => blocks.map(toLine);

function toLine(block: Block): string {
  switch (block.kind) {
    case 'user':
      return `user: ${block.text}`;
    case 'answer': {
      const marks = [block.streaming && 'streaming', block.partial && 'partial'].filter(Boolean);
      return ['answer', ...marks, block.reasoning && `(${block.reasoning})`, block.text].filter(Boolean).join(' ');
    }
    case 'tool':
      return `tool ${block.callId} ${block.phase}: ${block.result ?? block.live}`;
    case 'approval':
      return `approval ${block.approvalId} ${block.decision?.kind ?? 'pending'}`;
    case 'note':
      return `${block.level}: ${block.text}`;
  }
}

const asked: StreamEvent = {
  type: 'approve_request',
  approval_id: 'q',
  kind: 'tools',
  expires_at_ms: 9,
  items: [item('1')],
};
const resolved = (approved: boolean, feedback = ''): StreamEvent => ({
  type: 'approval_resolved',
  approval_id: 'q',
  approved,
  feedback,
  always: false,
  call_ids: ['1'],
});

test('a streamed answer grows in one block until stream_end', () => {
  const begun = fold([
    { type: 'user_turn', message: 'hi', run_id: 'r', source: 'person' },
    { type: 'thinking_start' },
    { type: 'thinking_stop' },
    { type: 'reasoning', text: 'so' },
    { type: 'content', text: 'Hel' },
    { type: 'content', text: 'lo' },
  ]);
  assert.deepEqual(lines(begun), ['user: hi', 'answer streaming (so) Hello']);
  assert.deepEqual(lines(foldEvent(begun, { type: 'stream_end' })), ['user: hi', 'answer (so) Hello']);
});

test('every block has its own key, also after older pages and more events', () => {
  const live = fold([
    { type: 'content', text: 'a' },
    { type: 'stream_end' },
    asked,
    resolved(true),
    { type: 'info', message: 'x' },
  ]);
  const page: HistoryMessage[] = [
    { seq: 1, role: 'user', content: 'q', tool_calls: null },
    { seq: 2, role: 'assistant', content: 'a', tool_calls: [{ id: 'old', name: 'bash', arguments: '{}' }] },
  ];
  const keys = prependPage(live, { messages: page, truncated: false }).blocks.map(({ key }) => key);
  assert.equal(new Set(keys).size, 7);
});

test('the dots of a waiting model go with its first delta', () => {
  const waiting = fold([{ type: 'thinking_start' }]);
  assert.equal(waiting.waiting, true);
  assert.equal(foldEvent(waiting, { type: 'content', text: 'x' }).waiting, false);
});

test('an interrupted answer is folded away, what was said before stays', () => {
  const after = fold([
    { type: 'content', text: 'kept' },
    { type: 'stream_end' },
    { type: 'content', text: 'void' },
    { type: 'stream_end', interrupted: true },
    { type: 'content', text: 'again' },
  ]);
  assert.deepEqual(lines(after), ['answer kept', 'answer streaming again']);
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
    is_error: false,
  });
  assert.deepEqual(lines(done), ['approval q approved', 'tool 1 done: one\ntwo']);
});

test('a denied batch shows its calls as denied, and a result cannot make them done', () => {
  const after = fold([
    asked,
    resolved(false, 'not now'),
    { type: 'tool_result', call_id: '1', name: 'bash', output: 'Denied by user: not now', is_error: true },
  ]);
  assert.deepEqual(lines(after), ['approval q denied', 'tool 1 denied: Denied by user: not now']);
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

test('a question about an unknown outcome keeps the first run visible and in doubt', () => {
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

test('a call id that a later turn uses again gets its own card', () => {
  const result: StreamEvent = { type: 'tool_result', call_id: '1', name: 'bash', output: 'ok', is_error: false };
  const info: StreamEvent = { type: 'tool_info', items: [item('1')] };
  assert.deepEqual(lines(fold([info, result, info])), ['tool 1 done: ok', 'tool 1 running: ']);
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
  assert.deepEqual(lines(after), ['tool 0 stopped: ', 'approval q withdrawn', 'answer partial par']);
  assert.equal(after.state, 'idle');
});

test('idle closes what a forced stop left open', () => {
  const after = fold([
    { type: 'thinking_start' },
    { type: 'tool_info', items: [item('1')] },
    { type: 'ws_state', ws_id: 'w', state: 'idle' },
  ]);
  assert.deepEqual({ lines: lines(after), waiting: after.waiting }, { lines: ['tool 1 stopped: '], waiting: false });
});

test('a failed run tells its reason once', () => {
  const failed: StreamEvent = {
    type: 'ws_state',
    ws_id: 'w',
    state: 'error',
    run: { run_id: 'r', status: 'error', error: 'no model' },
  };
  assert.deepEqual(lines(fold([failed])), ['error: no model']);
  assert.deepEqual(lines(fold([{ type: 'error', message: 'Error: no model' }, failed])), ['error: Error: no model']);
});

test('clear_ui empties, and a history after it replaces', () => {
  const after = fold([
    { type: 'content', text: 'gone' },
    { type: 'clear_ui', after_seq: 4 },
    { type: 'history', messages: [{ seq: 5, role: 'user', content: 'resumed', tool_calls: null }] },
  ]);
  assert.deepEqual({ lines: lines(after), firstSeq: after.firstSeq }, { lines: ['user: resumed'], firstSeq: 5 });
});

test('settings_changed renames, switches the model and says whether tools run without asking', () => {
  const { name, model, modelAlias, autoApprove } = fold([
    { type: 'settings_changed', name: 'tides', model: 'qwen3-32b', model_alias: 'qwen3', skip_permissions: true },
  ]);
  assert.deepEqual(
    { name, model, modelAlias, autoApprove },
    { name: 'tides', model: 'qwen3-32b', modelAlias: 'qwen3', autoApprove: true },
  );
});

test('the status of the last turn is kept without its event name', () => {
  const status = {
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    context_window: 100,
    pct: 3,
    effort: 'low' as const,
    cache_creation_tokens: 0,
    cache_read_tokens: 0,
  };
  assert.deepEqual(fold([{ type: 'status', ...status }]).status, status);
});

test('what does not change keeps its identity, so that views need not draw it again', () => {
  const before = fold([{ type: 'content', text: 'a' }, { type: 'stream_end' }, { type: 'content', text: 'b' }]);
  const after = foldEvent(before, { type: 'content', text: 'c' });
  assert.equal(after.blocks[0], before.blocks[0]);
  assert.notEqual(after.blocks[1], before.blocks[1]);
});
