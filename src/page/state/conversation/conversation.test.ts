import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryMessage, StreamEvent } from '../../../../protocol/stream-events.ts';
import { foldEvent, prependPage } from './conversation.ts';
import { fold, item, lines } from './conversation-fixture.ts';

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
  by: { kind: 'principal', id: 'operator' },
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

test('an answer has the time of its end: streamed, cancelled or stored; one before it keeps its own', () => {
  const times = (conversation: ReturnType<typeof fold>) =>
    conversation.blocks.map((block) => block.kind === 'answer' && block.endedMs);
  const first = fold([
    { type: 'content', text: 'a' },
    { type: 'stream_end', created_ms: 7 },
    { type: 'thinking_start' },
    { type: 'stream_end', created_ms: 8 },
    { type: 'content', text: 'b' },
  ]);
  assert.deepEqual(times(first), [7, undefined]);
  const cancelled = [{ type: 'cancelled' } as const, { type: 'stream_end', created_ms: 9 } as const];
  const ended = cancelled.reduce(foldEvent, first);
  assert.deepEqual(times(ended), [7, 9]);
  const page: HistoryMessage[] = [{ seq: 1, role: 'assistant', content: 'a', tool_calls: null, created_ms: 5 }];
  assert.deepEqual(times(prependPage(ended, { messages: page, truncated: false })), [5, 7, 9]);
});

test('block keys stay unique after older pages and more events', () => {
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

test('an unanswered message is marked, also if it was stored before the page opened', () => {
  const failed = { code: 'refused', text: 'no' } as const;
  const end: StreamEvent = {
    ...{ type: 'ws_state', ws_id: 'w', state: 'error' },
    run: { run_id: 'r2', status: 'error', error: 'no', failed },
  };
  const stored: HistoryMessage = { seq: 1, role: 'user', content: 'stored', tool_calls: null };
  const turn = (run_id: string): StreamEvent => ({ type: 'user_turn', message: run_id, run_id, source: 'person' });
  const marks = (events: StreamEvent[]) =>
    fold(events).blocks.flatMap((block) => (block.kind === 'user' ? [[block.text, block.failed?.code]] : []));
  assert.deepEqual(
    [marks([turn('r1'), turn('r2'), end]), marks([{ type: 'history', messages: [stored] }, end])],
    [
      [
        ['r1', undefined],
        ['r2', 'refused'],
      ],
      [['stored', 'refused']],
    ],
  );
});

test('the waiting dots disappear with the first delta', () => {
  const waiting = fold([{ type: 'thinking_start' }]);
  assert.equal(waiting.waiting, true);
  assert.equal(foldEvent(waiting, { type: 'content', text: 'x' }).waiting, false);
});

test('an interrupted answer is dropped, earlier messages stay', () => {
  const after = fold([
    { type: 'content', text: 'kept' },
    { type: 'stream_end' },
    { type: 'content', text: 'void' },
    { type: 'stream_end', interrupted: true },
    { type: 'content', text: 'again' },
  ]);
  assert.deepEqual(lines(after), ['answer kept', 'answer streaming again']);
});

test('the idle state closes everything that a forced stop left open', () => {
  const after = fold([
    { type: 'thinking_start' },
    { type: 'tool_info', items: [item('1')] },
    { type: 'ws_state', ws_id: 'w', state: 'idle' },
  ]);
  assert.deepEqual({ lines: lines(after), waiting: after.waiting }, { lines: ['tool 1 cancelled: '], waiting: false });
});

test('a failed run shows its reason once', () => {
  const failed: StreamEvent = {
    type: 'ws_state',
    ws_id: 'w',
    state: 'error',
    run: { run_id: 'r', status: 'error', error: 'no model' },
  };
  assert.deepEqual(lines(fold([failed])), ['error: no model']);
  assert.deepEqual(lines(fold([{ type: 'error', message: 'Error: no model' }, failed])), ['error: Error: no model']);
});

test('a run that ends as incomplete shows it once, and the workstream is idle', () => {
  const error = 'The answer is incomplete.';
  const run = { run_id: 'r', status: 'incomplete', error } as const;
  const idle: StreamEvent = { type: 'ws_state', ws_id: 'w', state: 'idle', run };
  const told = fold([{ type: 'content', text: 'Once' }, { type: 'error', message: error }, idle]);
  const untold = fold([{ type: 'content', text: 'Once' }, idle]);
  const shown = ['answer Once', `error: ${error}`];
  assert.deepEqual([lines(told), lines(untold), told.state], [shown, shown, 'idle']);
});

test('clear_ui empties, and a history after it replaces', () => {
  const after = fold([
    { type: 'content', text: 'gone' },
    { type: 'clear_ui', after_seq: 4 },
    { type: 'history', messages: [{ seq: 5, role: 'user', content: 'resumed', tool_calls: null }] },
  ]);
  assert.deepEqual({ lines: lines(after), firstSeq: after.firstSeq }, { lines: ['user: resumed'], firstSeq: 5 });
});

test('clear_ui resets the token count', () => {
  const status = { prompt_tokens: 9_000, completion_tokens: 2, total_tokens: 9_002, context_window: 0, pct: 0 };
  const counted = { type: 'status', ...status, effort: 'low', cache_creation_tokens: 0, cache_read_tokens: 0 } as const;
  assert.equal(fold([counted]).status?.total_tokens, 9_002);
  assert.equal(fold([counted, { type: 'clear_ui', after_seq: 2 }]).status, undefined);
});

test('settings_changed updates the name, the model and auto-approve', () => {
  const { name, model, modelAlias, autoApprove } = fold([
    { type: 'settings_changed', name: 'tides', model: 'qwen3-32b', model_alias: 'qwen3', skip_permissions: true },
  ]);
  assert.deepEqual(
    { name, model, modelAlias, autoApprove },
    { name: 'tides', model: 'qwen3-32b', modelAlias: 'qwen3', autoApprove: { isOn: true, untilMs: undefined } },
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

test('unchanged blocks keep their identity, so that views do not redraw them', () => {
  const before = fold([{ type: 'content', text: 'a' }, { type: 'stream_end' }, { type: 'content', text: 'b' }]);
  const after = foldEvent(before, { type: 'content', text: 'c' });
  assert.equal(after.blocks[0], before.blocks[0]);
  assert.notEqual(after.blocks[1], before.blocks[1]);
});
