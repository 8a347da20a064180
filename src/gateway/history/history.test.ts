import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallOutcome } from '../../../protocol/stream-events.ts';
import type { Message } from '../../agent/message.ts';
import { tempStore } from '../../testing/temp-store.ts';
import { insertMessage } from '../runs/run-rows.ts';
import { OF_EVERYONE } from '../sharing/perception.ts';
import { insertWorkstream, toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import { toHistory } from './history.ts';
import { createMessages, type StoredMessage } from './messages.ts';

const WS = 'a'.repeat(32);
const calls = ['one', 'two', 'three'].map((id) => ({ id, name: 'act', arguments: '{}' }));
const asks: Message = { role: 'assistant', content: '', toolCalls: calls };
const resultOf = (callId: string, output = `${callId} ran`, outcome: CallOutcome = 'done'): Message => ({
  role: 'tool',
  callId,
  name: 'act',
  output,
  outcome,
});
const store = (...messages: Message[]): StoredMessage[] =>
  messages.map((message, index) => ({ seq: index + 1, createdMs: 5, message }));

test('messages are shown in the wire format', () => {
  const answer: Message = { role: 'assistant', content: 'Hi', reasoning: 'hm', toolCalls: [], partial: true };
  assert.deepEqual(toHistory(store({ role: 'user', content: 'hello' }, answer, asks, resultOf('one'))), [
    { seq: 1, created_ms: 5, role: 'user', content: 'hello', tool_calls: null },
    { seq: 2, created_ms: 5, role: 'assistant', content: 'Hi', tool_calls: null, reasoning: 'hm', partial: true },
    { seq: 3, created_ms: 5, role: 'assistant', content: null, tool_calls: calls },
    {
      ...{ seq: 4, created_ms: 5, role: 'tool', content: 'one ran', tool_calls: null },
      ...{ call_id: 'one', name: 'act', outcome: 'done', is_error: false },
    },
  ]);
});

test('a failed message is shown with its reason, and hidden from the model', async () => {
  await using opened = await tempStore();
  const failed = { code: 'refused', text: 'openai answered 400: no' } as const;
  await opened.commit({
    statements: [insertWorkstream(toWorkstreamRow({ owned: OF_EVERYONE, wsId: WS, workdir: '/', nowMs: 1 }))],
  });
  const at = { wsId: WS, runId: null, nowMs: 5 };
  const kept: Message = { role: 'user', content: 'kept' };
  const statements = [{ ...kept, content: 'no', failed }, kept].flatMap((message) => insertMessage(at, message));
  await opened.commit({ statements });
  const messages = createMessages(opened);
  assert.deepEqual(await messages.context({ wsId: WS, contextAfterSeq: 0, messageCount: 2 }), [kept]);
  assert.deepEqual(toHistory(await messages.page(WS, { after: 0, upTo: 1, limit: 9 })), [
    { seq: 1, created_ms: 5, role: 'user', content: 'no', tool_calls: null, failed },
  ]);
});

test('a command that ended shows its exit code, how long it ran, why it was not in the sandbox, its limit and what it did not reach', () => {
  const refusedHosts = [{ host: 'api.example.org', port: 443, reason: 'not_allowed' }];
  const ended = { exitCode: 2, durationMs: 41, notSandboxed: 'no bubblewrap', limit: 'memory', refusedHosts };
  const [shown] = toHistory(store({ ...resultOf('one', 'no', 'failed'), ...ended } as Message));
  assert.deepEqual([shown?.exit_code, shown?.duration_ms, shown?.not_sandboxed], [2, 41, 'no bubblewrap']);
  assert.deepEqual([shown?.limit, shown?.refused_hosts], ['memory', refusedHosts]);
});

test('results are in the order of their calls in every turn, whichever finished first', () => {
  const shown = toHistory(
    store(asks, resultOf('three'), resultOf('one'), resultOf('two'), asks, resultOf('two'), resultOf('one')),
  );
  assert.deepEqual(
    shown.map(({ call_id }) => call_id),
    [undefined, 'one', 'two', 'three', undefined, 'one', 'two'],
  );
});

const FLAGGED: [CallOutcome, string][] = [
  ['denied', 'Denied by user: no'],
  ['expired', 'Approval timed out after 1 hour'],
  ['blocked', 'Not run: no approver was available, and the job’s policy is deny.'],
  // By the specification: by their beginnings, whatever the outcome.
  ['done', 'Denied by user 7 times'],
  ['failed', 'Blocked: 3 threads'],
];

for (const [outcome, output] of FLAGGED) {
  test(`"${output}", ${outcome}, flags the result and its answer, and keeps its outcome`, () => {
    const shown = toHistory(
      store(asks, resultOf('one', output, outcome), resultOf('two'), { ...asks }, resultOf('three')),
    );
    assert.deepEqual(
      shown.map((message) => [message.denied, message.outcome]),
      [
        [true, undefined],
        [true, outcome],
        [undefined, 'done'],
        [undefined, undefined],
        [undefined, 'done'],
      ],
    );
  });
}

test('a result says what was decided about its call, with the rule, if it is stored', () => {
  const rule = { action: 'deny', place: 'folder', wanted: true } as const;
  const rulings = [
    { verdict: 'block', reason: 'rule', rule: 'rul_1', ...rule },
    { verdict: 'run', reason: 'policy', policy: 'pol_1', ...rule, action: 'allow', place: 'everywhere' },
    { verdict: 'run', reason: 'harmless', auto: 'harmless' },
    { label: 'overwrite_file' },
    undefined,
  ] as const;
  const shown = toHistory(store(...rulings.map((decision) => ({ ...resultOf('one'), ...(decision && { decision }) }))));
  assert.deepEqual(
    shown.map(({ ruling }) => ruling),
    [
      {
        verdict: 'block',
        reason: 'rule',
        rule: { rule_id: 'rul_1', source: 'rule', action: 'deny', place: 'folder' },
      },
      {
        verdict: 'run',
        reason: 'policy',
        rule: { rule_id: 'pol_1', source: 'policy', action: 'allow', place: 'everywhere' },
      },
      { verdict: 'run', reason: 'harmless' },
      undefined,
      undefined,
    ],
  );
});

test('a failed, cancelled or unknown call does not count as denied', () => {
  for (const outcome of ['failed', 'cancelled', 'unknown'] as const) {
    const [answer, result] = toHistory(store(asks, resultOf('one', 'Not run: the run had ended', outcome)));
    assert.deepEqual([answer?.denied, result?.denied], [undefined, undefined]);
  }
});

test('a long output is shown with its head and tail', () => {
  const output = `${'a'.repeat(20_000)}${'b'.repeat(20_000)}`;
  const content = toHistory(store(resultOf('one', output)))[0]?.content ?? '';
  const half = 16 * 1024;
  assert.equal(content, `${'a'.repeat(half)}\n[… 7232 characters left out …]\n${'b'.repeat(half)}`);
  const emojis = toHistory(store(resultOf('one', `a${'😀'.repeat(20_000)}b`)))[0]?.content ?? '';
  assert.ok(emojis.isWellFormed(), 'no half of a character stays');
  const whole = 'c'.repeat(2 * half);
  assert.equal(toHistory(store(resultOf('one', whole)))[0]?.content, whole);
});

test('a page is the newest messages of a range, oldest first', async () => {
  await using db = await tempStore();
  const at = { wsId: WS, runId: null, nowMs: 5 };
  const add = ['1', '2', '3', '4', '5'].flatMap((content) => insertMessage(at, { role: 'user', content }));
  await db.commit({
    statements: [insertWorkstream(toWorkstreamRow({ owned: OF_EVERYONE, wsId: WS, workdir: '/', nowMs: 1 })), ...add],
  });
  const messages = createMessages(db);
  const page = async (after: number, upTo: number, limit: number) =>
    (await messages.page(WS, { after, upTo, limit })).map(({ seq }) => seq);
  assert.deepEqual(await page(0, 5, 100), [1, 2, 3, 4, 5]);
  assert.deepEqual(await page(1, 4, 2), [3, 4]);
  assert.deepEqual(await page(4, 4, 2), []);
  assert.deepEqual(await messages.page('b'.repeat(32), { after: 0, upTo: 9, limit: 9 }), []);
});

test('the answer whose calls wait for approval is marked, and no other', () => {
  const earlier: Message = {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'zero', name: 'act', arguments: '{}' }],
  };
  const stored = store(earlier, resultOf('zero'), asks);
  const item = {
    header: 'act',
    preview: '',
    func_name: 'act',
    approval_label: 'act',
    needs_approval: true,
    error: null,
  };
  const asked = { items: [{ ...item, call_id: 'two', subject: '' }] };
  const marks = (shown: ReturnType<typeof toHistory>) => shown.map(({ pending }) => pending);
  assert.deepEqual(
    [marks(toHistory(stored, asked)), marks(toHistory(stored))],
    [
      [undefined, undefined, true],
      [undefined, undefined, undefined],
    ],
  );
});
