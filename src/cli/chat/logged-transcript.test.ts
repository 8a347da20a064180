import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import type { HistoryMessage, StreamEvent } from '../../../protocol/stream-events.ts';
import { createMarkdownStream } from '../terminal/markdown-stream.ts';
import { createPaint } from '../terminal/paint.ts';
import { createTranscript } from './logged-transcript.ts';

const sheet = () => ({ paint: createPaint(false), columns: 80 });

/** A transcript whose printed lines can be read; `reach`: how many of them can be erased. */
function open(reach = Number.POSITIVE_INFINITY, isInteractive = true) {
  const lines: string[] = [];
  const screen = {
    rows: 24,
    columns: 80,
    print: (printed: readonly string[]) => void lines.push(...printed),
    retract(count: number) {
      if (count > reach) return false;
      lines.length -= count;
      return true;
    },
  };
  const transcript = createTranscript({
    screen,
    sheet,
    here: () => ({ nowMs: 0, tz: 'UTC' }),
    isInteractive,
    grow: () => createMarkdownStream(sheet),
    isMyRun: (runId) => runId === 'mine',
    isMyDecision: (id) => id === 'a1',
  });
  const tell = (...events: StreamEvent[]) => {
    for (const event of events) transcript.onEvent(event);
    transcript.flush();
    return lines;
  };
  return { transcript, lines, tell };
}

const said = (message: string, run_id = 'mine') =>
  ({ type: 'user_turn', message, run_id, source: 'person' }) satisfies StreamEvent;
const content = (text: string) => ({ type: 'content', text }) satisfies StreamEvent;
const ended = (run: RunOutcome) => ({ type: 'ws_state', ws_id: 'w', state: 'error', run }) satisfies StreamEvent;
const END = { type: 'stream_end' } satisfies StreamEvent;
const IDLE = {
  type: 'ws_state',
  ws_id: 'w',
  state: 'idle',
  run: { run_id: 'mine', status: 'ok' },
} satisfies StreamEvent;
const item = (call_id: string, [func_name, subject]: [string, string], preview = '') => ({
  call_id,
  header: `${func_name}: ${subject}`,
  subject,
  preview,
  func_name,
  approval_label: 'bash',
  needs_approval: true,
  error: null,
});
const asks = (approval_id: string) =>
  ({
    type: 'approve_request',
    items: [item('c1', ['bash', 'make'], 'make')],
    approval_id,
    kind: 'tools',
    expires_at_ms: 1,
  }) satisfies StreamEvent;
const decides = (approval_id: string, approved: boolean, feedback = '') =>
  ({
    type: 'approval_resolved',
    approval_id,
    approved,
    feedback,
    by: { kind: 'principal', id: 'ada' },
    always: false,
    call_ids: ['c1'],
  }) satisfies StreamEvent;
const result = (output: string, is_error = false) =>
  ({
    type: 'tool_result',
    call_id: 'c1',
    name: 'bash',
    output,
    outcome: is_error ? 'failed' : 'done',
    is_error,
  }) satisfies StreamEvent;

test('the parts of a turn are printed in order and once', () => {
  const { tell } = open();
  const lines = tell(
    said('build it'),
    { type: 'thinking_start' },
    { type: 'reasoning', text: 'First I look.\nThen I build.' },
    content('I *will*'),
    content(' build.'),
    END,
    asks('a1'),
    decides('a1', true),
    { type: 'tool_output_chunk', call_id: 'c1', chunk: 'cc' },
    result('cc main.c\nok\n'),
    content('Done.'),
    END,
    IDLE,
  );
  assert.deepEqual(lines, [
    '› build it',
    '',
    '∴ First I look. (2 lines; /thought shows it)',
    '',
    'I will build.',
    '',
    '? May the agent do this?',
    '  bash make',
    '',
    '✔ Approved: bash',
    '',
    '✔ bash make',
    '  cc main.c',
    '  ok',
    '',
    'Done.',
  ]);
});

test('messages and decisions of other clients are marked as theirs', () => {
  const { tell, transcript } = open();
  const lines = tell(
    said('hello', 'other'),
    asks('a2'),
    decides('a2', false, 'not now'),
    result('Denied by user', true),
  );
  assert.deepEqual(
    [lines[0], lines.at(-1), transcript.question],
    ['› hello (from another client)', '✖ Denied: bash — not now (decided elsewhere)', undefined],
  );
});

test('an expired question is not shown as denied', () => {
  const { tell } = open();
  const timedOut = 'Approval timed out after 1 hour';
  const lines = tell(
    asks('a2'),
    { ...decides('a2', false, timedOut), by: { kind: 'timeout' } },
    result(timedOut, true),
  );
  assert.equal(lines.at(-1), '✖ Not decided in time: bash — Approval timed out after 1 hour');
});

test('a denial whose reason is worded like a timeout is shown as denied', () => {
  const { tell } = open();
  const lines = tell(asks('a2'), decides('a2', false, 'Approval timed out in my head'));
  assert.equal(lines.at(-1), '✖ Denied: bash — Approval timed out in my head (decided elsewhere)');
});

test('a question that is in both the snapshot and the log is printed once', () => {
  const { tell, lines } = open();
  tell(asks('a1'), asks('a1'));
  assert.equal(lines.filter((line) => line.startsWith('?')).length, 1);
});

test('an answer that a crash cut off is erased', () => {
  const { tell } = open();
  const lines = tell(
    said('go'),
    content('one\n\ntwo\n\nth'),
    { type: 'stream_end', interrupted: true },
    content('one\n\ntwo'),
    END,
  );
  assert.deepEqual(lines, ['› go', '', 'one', '', 'two']);
});

test('an answer that has scrolled away is marked as void', () => {
  const { tell, transcript } = open(1);
  tell(said('go'), content('one\n\ntwo\n\nth'));
  const lines = tell({ type: 'stream_end', interrupted: true });
  assert.deepEqual(lines.slice(-2), [
    '',
    '(A restart cut off the answer above, so it is void. The model is asked again.)',
  ]);
  assert.deepEqual(transcript.liveLines(10), []);
});

test('while a command runs, the end of its output is shown live, up to a limit', () => {
  const { tell, transcript } = open();
  tell({ type: 'tool_info', items: [item('c1', ['bash', 'seq'])] });
  for (let line = 0; line < 10_000; line += 1) tell({ type: 'tool_output_chunk', call_id: 'c1', chunk: `${line}\n` });
  assert.deepEqual(transcript.liveLines(4), ['◌ bash seq', '  9997', '  9998', '  9999']);
});

test('a long output is cut to its last lines, and /output prints all of it', () => {
  const { tell, transcript } = open();
  const output = Array.from({ length: 10_000 }, (_, line) => `line ${line}`).join('\n');
  const lines = tell({ type: 'tool_info', items: [item('c1', ['bash', 'seq'])] }, result(output));
  assert.deepEqual(
    [lines.length, lines[1], lines.at(-1), transcript.cards.all.at(-1)?.output === output],
    [14, '  … 9,988 lines above; Ctrl-O shows them', '  line 9999', true],
  );
});

test('one line says why a call ran unasked or was blocked, also in the history', () => {
  const ruling = { verdict: 'run', reason: 'judge' } as const;
  const { tell } = open();
  const lines = tell({ type: 'tool_info', items: [{ ...item('c1', ['bash', 'make']), ruling }] }, result('ok'));
  assert.deepEqual(lines, ['✔ bash make', '  The judge approved it.', '  ok']);
  const stored = open();
  const call = { name: 'bash', arguments: '{"command":"make"}' };
  const calls = ['c1', 'c2'].map((id) => ({ id, ...call }));
  const end = (seq: number, call_id: string, more: Partial<HistoryMessage>): HistoryMessage => ({
    ...{ seq, role: 'tool', content: '', tool_calls: null, call_id, name: 'bash' },
    ...more,
  });
  const messages: HistoryMessage[] = [
    { seq: 1, role: 'assistant', content: null, tool_calls: calls },
    end(2, 'c1', { outcome: 'blocked', ruling: { verdict: 'block', reason: 'mode' } }),
    end(3, 'c2', { outcome: 'done', ruling: { verdict: 'run', reason: 'harmless' } }),
  ];
  stored.tell({ type: 'history', messages });
  assert.deepEqual(stored.lines, [...['✖ bash make', '  This workstream is in the mode “Read only”.'], '✔ bash make']);
});

test('a question has said why it asks, so that its result does not', () => {
  const { tell } = open();
  const ruling = { verdict: 'ask', reason: 'tainted' } as const;
  const lines = tell(
    { ...asks('a1'), items: [{ ...item('c1', ['bash', 'make']), ruling }] },
    decides('a1', true),
    result('ok'),
  );
  assert.deepEqual(lines.slice(-2), ['✔ bash make', '  ok']);
  assert.equal(lines.filter((line) => line.includes('untrusted content')).length, 1);
});

test('over pipes, no hint names a command', () => {
  const { tell } = open(undefined, false);
  const output = Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n');
  const lines = tell(
    { type: 'reasoning', text: 'Let me see.' },
    content('Done.'),
    END,
    { type: 'tool_info', items: [item('c1', ['bash', 'seq'])] },
    result(output),
  );
  assert.ok(lines.includes('∴ Let me see. (1 line)'), lines.join('\n'));
  assert.ok(lines.includes('  … 8 lines above'), lines.join('\n'));
});

test('escape sequences from a model, a tool or a name do not reach the terminal', () => {
  const evil = '\u001b]0;x\u0007\u001b[2Jevil';
  const { lines, transcript, tell } = open();
  tell(
    said(evil, 'other'),
    { type: 'reasoning', text: evil },
    content(`${evil}\n\n\`${evil}\`\n\n- ${evil}`),
    END,
    { ...asks('a1'), items: [{ ...item('c1', ['bash', evil], evil), not_sandboxed: evil, error: evil }] },
    decides('a1', true, evil),
    { type: 'tool_output_chunk', call_id: 'c1', chunk: evil },
  );
  const live = transcript.liveLines(10);
  tell(result(evil), { type: 'info', message: evil }, { type: 'error', message: evil });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them.
  assert.doesNotMatch([...lines, ...live].join(''), /[\x00-\x1f\x7f-\x9f]/);
});

test('the error of a failed run is printed once', () => {
  const failed = { ...IDLE, state: 'error', run: { run_id: 'mine', status: 'error', error: 'no model' } } as const;
  assert.deepEqual(open().tell(said('x'), failed), ['› x', '', '✖ no model']);
  assert.deepEqual(open().tell(said('x'), { type: 'error', message: 'no model' }, failed), ['› x', '', '✖ no model']);
});

test('an unanswered message is marked when its run ends, and in the history with the reason', () => {
  const failed = { code: 'refused', text: 'openai answered 400: no' } as const;
  const live = open();
  const run: RunOutcome = { run_id: 'mine', status: 'error', error: failed.text, failed };
  assert.deepEqual(
    live.tell(said('hello'), { type: 'error', message: `Error: ${failed.text}` }, ended(run)).slice(-1),
    ['(not answered, and no longer sent to the model)'],
  );
  const stored = open();
  const messages: HistoryMessage[] = [{ seq: 1, role: 'user', content: 'hello', tool_calls: null, failed }];
  const lines = stored.tell({ type: 'history', messages });
  assert.deepEqual(
    lines.filter((line) => line !== ''),
    ['› hello', '  ✖ not answered: openai answered 400: no'],
  );
});

test('a line separates messages that no longer count from those below', () => {
  const rule = '────────';
  const line = (...events: StreamEvent[]) => open().tell(...events);
  assert.deepEqual(line({ type: 'rewound', after_seq: 2, reason: 'rewind' }), [`${rule} taken back ${rule}`]);
  assert.deepEqual(line({ type: 'rewound', after_seq: 2, reason: 'retry' }, said('x', 'theirs')), [
    ...[`${rule} the last message again ${rule}`, '', '› x'],
  ]);
  assert.deepEqual(line({ type: 'message_removed', seq: 3 }), [`${rule} the failed message was removed ${rule}`]);
});
