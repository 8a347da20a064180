import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import { readItem, toAskedItem, toWholeItem } from './asked-item.ts';

const ROOM = { rows: 6, columns: 40 };
const item = (changes: Partial<ApprovalItem>): ApprovalItem => ({
  call_id: 'c1',
  header: 'bash: make',
  subject: 'make',
  preview: 'make',
  func_name: 'bash',
  approval_label: 'bash',
  needs_approval: true,
  error: null,
  ...changes,
});
const lines = Array.from({ length: 99 }, (_, index) => `line ${index}`).join('\n');

const VERDICT: NonNullable<ApprovalItem['verdict']> = {
  verdict_id: 'v1',
  call_id: 'c1',
  func_name: 'bash',
  func_args: '{}',
  intent_summary: 'make',
  risk_level: 'medium',
  confidence: 0.5,
  recommendation: 'review',
  reasoning: 'It installs packages, or runs what they contain.',
  evidence: [],
  tier: 'heuristic',
  judge_model: '',
  latency_ms: 0,
};

test('a preview that repeats the subject is not shown', () => {
  assert.deepEqual(toAskedItem(readItem(item({})), ROOM), {
    header: 'bash: make',
    subject: 'make',
    label: 'bash',
    notSandboxed: undefined,
    error: undefined,
    effects: [],
    ruling: undefined,
    verdicts: [],
    isShort: false,
    preview: { kind: 'none' },
    isWhole: true,
  });
});

test('a long preview shows both ends and is kept in full', () => {
  const read = readItem(item({ subject: 'line 0 …', preview: lines }));
  const { preview, isWhole } = toAskedItem(read, ROOM);
  const texts = preview.kind === 'ends' ? preview.lines.map((line) => line.map(({ text }) => text).join('')) : [];
  assert.deepEqual(
    [isWhole, texts],
    [false, ['line 0', 'line 1', '… 94 lines (744 characters) left out …', 'line 96', 'line 97', 'line 98']],
  );
  assert.deepEqual(toWholeItem(read).preview, { kind: 'whole', text: lines });
});

test('a long subject and a long reason leave room for the calls below, and keep their ends', () => {
  const long = `${'a/'.repeat(2_000)}end`;
  const { subject, error, isWhole } = toAskedItem(
    readItem(item({ subject: long, preview: '', error: `${long}\nno such file` })),
    ROOM,
  );
  assert.deepEqual(
    [subject !== undefined && subject.length < 150, error !== undefined && error.length < 100, isWhole],
    [true, true, false],
  );
  assert.match(subject ?? '', /^a\/a\/.* … [\d,]+ characters … .*end$/);
  assert.match(error ?? '', /end\\nno such file$/);
});

test('a reason that only repeats an effect, which is shown beside it, is left out', () => {
  const rated = (reasoning: string) => ({ ...VERDICT, reasoning });
  const effects = { list: [{ kind: 'write' as const, target: 'a.txt', certain: true }] };
  const texts = ['It writes a.txt.', 'It writes outside the working directory: a.txt.'].map(
    (reasoning) =>
      toAskedItem(readItem(item({ heuristic_verdict: rated(reasoning), effects })), { rows: 6, columns: 90 })
        .verdicts[0]?.text,
  );
  assert.deepEqual(texts, ['Medium risk', 'Medium risk: It writes outside the working directory: a.txt.']);
});

test('the reason of a verdict loses its end, at a word, and never its middle', () => {
  const textOf = (columns: number) =>
    toAskedItem(readItem(item({ heuristic_verdict: VERDICT })), { rows: 6, columns }).verdicts[0]?.text;
  assert.equal(textOf(40), 'Medium risk: It installs packages, or …');
  assert.equal(textOf(90), 'Medium risk: It installs packages, or runs what they contain.');
});

test('a call that names no subject shows its header, cut in the same way', () => {
  const { subject: _, ...plain } = item({ header: 'x'.repeat(200), preview: '' });
  const { subject, header, isWhole } = toAskedItem(readItem(plain), ROOM);
  assert.deepEqual([subject, header.length < 150, isWhole], [undefined, true, false]);
});

const EFFECTS = {
  list: [
    { kind: 'write' as const, target: 'a-file-with-a-rather-long-name.txt', certain: true },
    { kind: 'network' as const, target: 'a.host.with.a.long.name.example', certain: true },
  ],
  incomplete: 'unknown_code' as const,
};

test('effects that are too long for the room name only their kinds, and with very few rows only icons have room', () => {
  const read = readItem(item({ subject: 'x'.repeat(500), preview: lines, effects: EFFECTS }));
  const shown = [40, 6, 5].map((rows) => {
    const { effects, isShort } = toAskedItem(read, { rows, columns: 40 });
    return [effects.map(({ text }) => text), isShort];
  });
  const full = [
    'Writes: a-file-with-a-rather-long-name.txt',
    'Network: a.host.with.a.long.name.example',
    'May do more: it runs code that is not shown',
  ];
  const short = ['Writes', 'Network', 'May do more'];
  assert.deepEqual(shown, [
    [full, false],
    [short, false],
    [short, true],
  ]);
});
