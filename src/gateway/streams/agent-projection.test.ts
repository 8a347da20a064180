import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { AgentEvent } from '../../../protocol/methods/agent.ts';
import { ChatEvent } from '../../../protocol/methods/chat.ts';
import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { type AgentFrame, AgentProjection } from './agent-projection.ts';

const RUN = { runId: 'r1', sessionKey: 'main', sessionId: 'w' };
const say = (text: string): StreamEvent => ({ type: 'content', text });
const end = (status: RunOutcome['status'], error?: string): StreamEvent => ({
  type: 'ws_state',
  ws_id: 'w',
  state: status === 'ok' || status === 'cancelled' ? 'idle' : 'error',
  run: { run_id: 'r1', status, ...(error !== undefined && { error }) },
});
const item = (call_id: string, error: string | null = null): ApprovalItem => ({
  call_id,
  header: `bash: ${call_id}`,
  preview: '',
  func_name: 'bash',
  approval_label: 'bash',
  needs_approval: true,
  error,
});

/** A run's projection, and a summary of its frames. */
function running() {
  const projection = new AgentProjection(RUN);
  const frames: AgentFrame[] = projection.started(1);
  return {
    projection,
    frames,
    take: (...events: StreamEvent[]) => frames.push(...events.flatMap((event) => projection.take(event, 2))),
    sample: () => frames.push(...projection.sample(3)),
    /** After `job started`. */
    told: () => frames.slice(1).map(brief),
  };
}

function brief({ event, payload }: AgentFrame): unknown[] {
  if (event === 'agent') return [payload.stream, payload.data];
  const text = payload.message?.content.map((part) => part.text).join('');
  return [`chat ${payload.state}`, payload.errorMessage ?? text];
}

/** Each frame matches its strict row, and numbers count from 1 without gaps. */
function assertWellFormed(frames: readonly AgentFrame[]): void {
  for (const { event, payload } of frames) (event === 'agent' ? AgentEvent : ChatEvent).parse(payload);
  const seqs = frames.flatMap(({ event, payload }) => (event === 'agent' ? [payload.seq] : []));
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  );
}

/** Each text is the previous one plus its delta, or starts again with the delta. */
function assertTextsGrow(frames: readonly AgentFrame[]): void {
  let before = '';
  for (const { event, payload } of frames) {
    if (event !== 'agent' || payload.stream !== 'assistant') continue;
    const { text, delta } = payload.data;
    assert.ok([`${before}${delta}`, delta].includes(text), `${before} + ${delta} = ${text}`);
    before = `${text}`;
  }
}

test('a run begins with job started and ends with job done and the final chat message', () => {
  const { take, frames } = running();
  take({ type: 'thinking_start' }, say('Hi'), { type: 'stream_end' }, end('ok'));
  assert.deepEqual(frames, [
    {
      event: 'agent',
      payload: {
        runId: 'r1',
        seq: 1,
        stream: 'job',
        ts: 1,
        data: { state: 'started', startedAt: 1, sessionId: 'w', sessionKey: 'main' },
      },
    },
    { event: 'agent', payload: { runId: 'r1', seq: 2, stream: 'assistant', ts: 2, data: { text: 'Hi', delta: 'Hi' } } },
    {
      event: 'chat',
      payload: {
        runId: 'r1',
        sessionKey: 'main',
        seq: 2,
        state: 'delta',
        message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }], timestamp: 2 },
      },
    },
    {
      event: 'agent',
      payload: {
        runId: 'r1',
        seq: 3,
        stream: 'job',
        ts: 2,
        data: { state: 'done', startedAt: 1, endedAt: 2, durationMs: 1, sessionId: 'w', aborted: false },
      },
    },
    {
      event: 'chat',
      payload: {
        runId: 'r1',
        sessionKey: 'main',
        seq: 3,
        state: 'final',
        message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }], timestamp: 2 },
      },
    },
  ]);
  assertWellFormed(frames);
});

test('text is collected until it is sampled, and sent whole with its new part', () => {
  const { take, sample, told, projection } = running();
  take({ type: 'reasoning', text: 'Hm' }, say('one '), say('two '));
  assert.deepEqual([told(), projection.dirty], [[], true]);
  sample();
  take(say('three'));
  sample();
  sample();
  assert.equal(projection.dirty, false);
  assert.deepEqual(told(), [
    ['reasoning', { text: 'Hm', delta: 'Hm' }],
    ['assistant', { text: 'one two ', delta: 'one two ' }],
    ['chat delta', 'one two '],
    ['assistant', { text: 'one two three', delta: 'three' }],
    ['chat delta', 'one two three'],
  ]);
});

test('each model turn starts a new text; the final message is that of the last turn', () => {
  const { take, told } = running();
  take({ type: 'thinking_start' }, say('Let me look.'), { type: 'stream_end' });
  take({ type: 'thinking_start' }, say('Done.'), { type: 'stream_end' }, end('ok'));
  assert.deepEqual(
    told().filter(([name]) => String(name).startsWith('chat')),
    [
      ['chat delta', 'Let me look.'],
      ['chat delta', 'Done.'],
      ['chat final', 'Done.'],
    ],
  );
});

test('an answer interrupted by a crash is void, and its text is generated again', () => {
  const { take, sample, told } = running();
  take({ type: 'thinking_start' }, say('half an'));
  sample();
  take(say(' ans'), { type: 'stream_end', interrupted: true });
  sample();
  take({ type: 'thinking_start' }, say('whole'), { type: 'stream_end' }, end('ok'));
  assert.deepEqual(
    told().filter(([name]) => name === 'assistant'),
    [
      ['assistant', { text: 'half an', delta: 'half an' }],
      ['assistant', { text: 'whole', delta: 'whole' }],
    ],
  );
});

test('a tool has a start, output, and a result; a call that cannot run never starts', () => {
  const { take, sample, told } = running();
  take(say('I will.'), { type: 'tool_info', items: [item('c1'), item('c2', 'no such tool')] });
  take(
    { type: 'tool_output_chunk', call_id: 'c1', chunk: 'a\n' },
    { type: 'tool_output_chunk', call_id: 'c1', chunk: 'b\n' },
  );
  sample();
  take({ type: 'tool_output_chunk', call_id: 'c1', chunk: 'c\n' });
  take({ type: 'tool_result', call_id: 'c1', name: 'bash', output: 'a\nb\nc\n', outcome: 'done', is_error: false });
  assert.deepEqual(told(), [
    ['assistant', { text: 'I will.', delta: 'I will.' }],
    ['chat delta', 'I will.'],
    ['tool', { phase: 'start', name: 'bash', toolCallId: 'c1', meta: 'bash: c1' }],
    ['tool', { phase: 'update', toolCallId: 'c1', output: 'a\nb\n' }],
    ['tool', { phase: 'update', toolCallId: 'c1', output: 'c\n' }],
    ['tool', { phase: 'result', name: 'bash', toolCallId: 'c1', isError: false, output: 'a\nb\nc\n' }],
  ]);
});

test('a cancelled run is done and aborted', () => {
  const { take, told, frames } = running();
  take(say('par'), { type: 'cancelled' }, { type: 'stream_end' }, end('cancelled'));
  assert.deepEqual(told().slice(2), [
    ['job', { state: 'done', startedAt: 1, endedAt: 2, durationMs: 1, sessionId: 'w', aborted: true }],
    ['chat aborted', undefined],
  ]);
  assertWellFormed(frames);
});

for (const status of ['error', 'timeout', 'incomplete'] as const) {
  test(`a run that ends with ${status} is a job error and a chat error`, () => {
    const { take, told, frames } = running();
    take({ type: 'error', message: 'Error: no model' }, { type: 'stream_end' }, end(status, 'no model'));
    assert.deepEqual(told(), [
      ['error', { message: 'Error: no model' }],
      ['job', { state: 'error', startedAt: 1, endedAt: 2, durationMs: 1, sessionId: 'w', error: 'no model' }],
      ['chat error', 'no model'],
    ]);
    assertWellFormed(frames);
  });
}

test('a blank final message is left out', () => {
  const { take, told } = running();
  take(say(' \n'), { type: 'stream_end' }, end('ok'));
  assert.deepEqual(told().at(-1), ['chat final', undefined]);
});

const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  fc.string().map(say),
  fc.string().map((text): StreamEvent => ({ type: 'reasoning', text })),
  fc.string().map((chunk): StreamEvent => ({ type: 'tool_output_chunk', call_id: 'c', chunk })),
  fc.constant<StreamEvent>({ type: 'thinking_start' }),
  fc.constant<StreamEvent>({ type: 'stream_end' }),
  fc.constant<StreamEvent>({ type: 'stream_end', interrupted: true }),
  fc.constant<StreamEvent>({ type: 'tool_info', items: [item('c')] }),
  fc.constant<StreamEvent>({
    type: 'tool_result',
    call_id: 'c',
    name: 'bash',
    output: 'x',
    outcome: 'failed',
    is_error: true,
  }),
  fc.constant<StreamEvent>({ type: 'error', message: 'm' }),
  fc.constant<StreamEvent>({ type: 'ws_state', ws_id: 'w', state: 'running' }),
);

test('whatever happens and whenever it is sampled, frames match their rows, have no gaps, and add up', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(event, fc.boolean())), (happened) => {
      const { take, sample, frames } = running();
      for (const [now, isSampled] of happened) {
        take(now);
        if (isSampled) sample();
      }
      take({ type: 'stream_end' }, end('ok'));
      assertWellFormed(frames);
      assertTextsGrow(frames);
    }),
  );
});
