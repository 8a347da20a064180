import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecidedBy, HistoryMessage, HistoryNote, StreamEvent } from '../../../../protocol/stream-events.ts';
import { isTool } from './blocks.ts';
import { fold, item } from './conversation-fixture.ts';
import { joinPages, toBlocks } from './history-blocks.ts';

const calls = (...ids: string[]) => ids.map((id) => ({ id, name: 'bash', arguments: '{"command":"ls\\n-la"}' }));
const assistant = (seq: number, ...ids: string[]): HistoryMessage => ({
  seq,
  role: 'assistant',
  content: null,
  tool_calls: calls(...ids),
});
const result = (seq: number, callId: string, more: Partial<HistoryMessage> = {}): HistoryMessage => ({
  seq,
  role: 'tool',
  content: `result of ${callId}`,
  tool_calls: null,
  call_id: callId,
  name: 'bash',
  ...more,
});
const tools = (blocks: ReturnType<typeof toBlocks>) =>
  blocks.filter(isTool).map(({ callId, phase, result: text, subject }) => ({ callId, phase, text, subject }));

test('stored results are matched to their calls in any order', () => {
  const blocks = toBlocks([
    assistant(1, 'a', 'b'),
    result(2, 'b', { outcome: 'failed', is_error: true }),
    result(3, 'a', { content: 'Denied by user: no', outcome: 'denied', is_error: true }),
  ]);
  assert.deepEqual(tools(blocks), [
    { callId: 'a', phase: 'denied', text: 'Denied by user: no', subject: 'ls …' },
    { callId: 'b', phase: 'failed', text: 'result of b', subject: 'ls …' },
  ]);
});

test('a stored result that only begins like a denial counts as done', () => {
  const blocks = toBlocks([
    { ...assistant(1, 'a'), denied: true },
    result(2, 'a', { content: 'Blocked: 3 threads', outcome: 'done', denied: true }),
  ]);
  assert.deepEqual(
    tools(blocks).map(({ phase }) => phase),
    ['done'],
  );
});

test('an assistant message keeps its reasoning and its cut answer', () => {
  assert.deepEqual(
    toBlocks([{ seq: 7, role: 'assistant', content: 'half', tool_calls: null, reasoning: 'why', partial: true }]),
    [{ kind: 'answer', key: 'h7', text: 'half', reasoning: 'why', streaming: false, partial: true, stored: true }],
  );
});

test('a result moves to its call on the older page', () => {
  const newer = toBlocks([result(3, 'a'), { seq: 4, role: 'user', content: 'next', tool_calls: null }]);
  const joined = joinPages(toBlocks([assistant(2, 'a')]), newer);
  assert.deepEqual(
    joined.map(({ kind, key }) => ({ kind, key })),
    [
      { kind: 'tool', key: 'h2.0' },
      { kind: 'user', key: 'h4' },
    ],
  );
  assert.deepEqual(tools(joined), [{ callId: 'a', phase: 'done', text: 'result of a', subject: 'ls …' }]);
});

test('a call that ran without the sandbox shows this live and from the history', () => {
  const not_sandboxed = 'no bubblewrap';
  const card = item('a', { needs_approval: false, not_sandboxed });
  const ran = {
    type: 'tool_result',
    call_id: 'a',
    name: 'bash',
    output: '',
    outcome: 'done',
    is_error: false,
  } as const;
  const refused = { ...ran, outcome: 'denied', is_error: true } as const;
  const live = (end: StreamEvent) => fold([{ type: 'tool_info', items: [card] }, end]).blocks;
  const stored = [result(2, 'a', { not_sandboxed })];
  const older = toBlocks([assistant(1, 'a')]);
  const shown = [
    ...[live({ ...ran, not_sandboxed }), toBlocks([assistant(1, 'a'), ...stored]), joinPages(older, toBlocks(stored))],
    ...[live(refused), toBlocks([assistant(1, 'a'), result(2, 'a', { outcome: 'denied' })])],
  ].map((blocks) => blocks.filter(isTool).map(({ notSandboxed }) => notSandboxed));
  assert.deepEqual(shown, [[not_sandboxed], [not_sandboxed], [not_sandboxed], [undefined], [undefined]]);
});

test('what was decided about a call is known live and from the history', () => {
  const ruling = { verdict: 'run', reason: 'rule' } as const;
  const older = toBlocks([assistant(1, 'a')]);
  const stored = [result(2, 'a', { ruling })];
  const asked: StreamEvent = {
    ...{ type: 'approve_request', approval_id: 'q', kind: 'tools', expires_at_ms: 9 },
    items: [item('a', { ruling: { verdict: 'ask', reason: 'tainted' } })],
  };
  const approved = (by: DecidedBy): StreamEvent => ({
    ...{
      type: 'approval_resolved',
      approval_id: 'q',
      approved: true,
      feedback: '',
      by,
      always: false,
      call_ids: ['a'],
    },
  });
  const shown = [
    fold([{ type: 'tool_info', items: [item('a', { ruling })] }]).blocks,
    toBlocks([assistant(1, 'a'), ...stored]),
    joinPages(older, toBlocks(stored)),
    toBlocks([assistant(1, 'a'), result(2, 'a')]),
    fold([asked, approved({ kind: 'principal', id: 'ada' })]).blocks,
    fold([asked, approved({ kind: 'judge' })]).blocks,
  ].map((blocks) => blocks.filter(isTool).map((tool) => tool.ruling));
  assert.deepEqual(shown, [
    ...[[ruling], [ruling], [ruling], [undefined]],
    ...[[{ verdict: 'ask', reason: 'tainted' }], [{ verdict: 'run', reason: 'judge' }]],
  ]);
});

test('malformed stored arguments leave only the name of the tool', () => {
  const broken = {
    seq: 1,
    role: 'assistant' as const,
    content: null,
    tool_calls: [{ id: 'a', name: 'bash', arguments: '{"comm' }],
  };
  assert.deepEqual(tools(toBlocks([broken])), [{ callId: 'a', phase: 'running', text: undefined, subject: undefined }]);
});

const note = (after_seq: number, message: string): HistoryNote => ({ kind: 'info', after_seq, created_ms: 5, message });
const decision = (after_seq: number, more: Partial<HistoryNote & { kind: 'decision' }>): HistoryNote => ({
  ...{
    kind: 'decision',
    after_seq,
    created_ms: 5,
    approval_id: 'q',
    question: 'tools',
    by: { kind: 'principal', id: 'operator' },
  },
  ...{ calls: [{ call_id: 'a', name: 'bash' }], approved: false, always: false, feedback: 'no', ...more },
});
const places = (blocks: ReturnType<typeof toBlocks>) =>
  blocks.map((block) => {
    if (block.kind === 'note') return block.text;
    return isTool(block) ? `tool ${block.callId}` : block.kind;
  });
const asked = (seq: number): HistoryMessage => ({ seq, role: 'user', content: 'do it', tool_calls: null });

test('a note is shown after the message that it followed', () => {
  const notes = [note(0, 'first'), note(1, 'second'), note(1, 'third'), note(4, 'last')];
  const blocks = toBlocks([asked(1), assistant(2, 'a', 'b'), result(3, 'a'), result(4, 'b')], notes);
  assert.deepEqual(places(blocks), ['first', 'user', 'second', 'third', 'tool a', 'tool b', 'last']);
  assert.equal(new Set(blocks.map(({ key }) => key)).size, blocks.length);
});

test('a decision is shown before its calls, with its feedback', () => {
  const page = [assistant(1, 'a'), result(2, 'a'), assistant(3, 'a'), result(4, 'a')];
  const blocks = toBlocks(page, [decision(3, { approved: true, always: true, feedback: '' })]);
  assert.deepEqual(places(blocks), ['tool a', 'decision', 'tool a']);
  assert.deepEqual(blocks[1], {
    ...{ kind: 'decision', key: 'n3.0', question: 'tools', names: ['bash'] },
    decision: { approved: true, always: true, feedback: '', by: { kind: 'principal', id: 'operator' } },
  });
});

test('a decision not to repeat a call is shown after the call, and one without its call at its own place', () => {
  const page = [assistant(1, 'a'), result(2, 'a')];
  assert.deepEqual(places(toBlocks(page, [decision(1, { question: 'outcome' })])), ['tool a', 'decision']);
  assert.deepEqual(places(toBlocks([asked(2)], [decision(2, {})])), ['user', 'decision']);
});

test('a result finds its call on the older page past a note', () => {
  const newer = toBlocks([result(2, 'a'), result(3, 'b')], [note(2, 'between')]);
  const joined = joinPages(toBlocks([assistant(1, 'a', 'b')]), newer);
  assert.deepEqual(places(joined), ['tool a', 'tool b', 'between']);
  assert.deepEqual(
    tools(joined).map(({ text }) => text),
    ['result of a', 'result of b'],
  );
});
