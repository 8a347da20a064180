import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { HistoryMessage } from '../../../protocol/stream-events.ts';
import { cutAnswer, toApprovals, toPage } from './told-data.ts';

/** What the tools refuse to send. */
const REFUSED_CHARS = 100_000;

const message = (seq: number, more: Partial<HistoryMessage> = {}): HistoryMessage => ({
  ...{ seq, role: 'assistant', content: 'x'.repeat(20_000), tool_calls: null, ts: 0 },
  ...more,
});

const item = (index: number): ApprovalItem => ({
  ...{ call_id: `c${index}`, header: 'bash: x', preview: 'p'.repeat(9_000), func_name: 'bash', approval_label: 'bash' },
  ...{ needs_approval: true, error: null },
});

const approval = (index: number, calls: number): Approval => ({
  ...{ approvalId: `a${index}`, wsId: 'w', sessionKey: 'w', kind: 'tools', expiresAtMs: 1, createdAtMs: 1 },
  items: Array.from({ length: calls }, (_, at) => item(at)),
});

test('a page that leaves messages out says that there are earlier ones', () => {
  const messages = Array.from({ length: 20 }, (_, index) => message(index + 1));
  const { messages: shown, earlier } = toPage({ messages, truncated: false });
  assert.deepEqual([shown.length, shown.at(-1)?.seq, earlier], [9, 20, true]);
  assert.equal(toPage({ messages: messages.slice(-9), truncated: false }).earlier, false);
});

test('an answer is cut to what fits in JSON, which escapes its line ends and quotation marks', () => {
  const answer = cutAnswer(`${'{"a":"b"},\n'.repeat(9_000)}the end`);
  assert.ok(JSON.stringify(answer).length < 80_100);
  assert.match(answer, /^\{"a":"b"\},\n.* … \(\d+ characters left out\) … .*the end$/s);
  assert.equal(cutAnswer('short "text"\n'), 'short "text"\n');
});

test('every message and every approval fits in an answer, with any number of calls', () => {
  const calls = Array.from({ length: 128 }, (_, index) => ({
    ...{ id: `c${index}`, name: 'bash', arguments: '"'.repeat(3_000) },
  }));
  const page = toPage({ messages: [message(1, { tool_calls: calls })], truncated: false });
  const list = toApprovals([approval(1, 100)]);
  for (const told of [page, list]) assert.ok(JSON.stringify(told).length < REFUSED_CHARS);
  assert.deepEqual([page.messages[0]?.calls?.length, list.approvals[0]?.calls.length], [128, 100]);
});

test('a list of approvals ends where its page is full, and counts the others', () => {
  const { approvals, left_out } = toApprovals(Array.from({ length: 10 }, (_, index) => approval(index, 4)));
  assert.deepEqual([approvals.map(({ approval_id }) => approval_id), left_out], [['a0', 'a1'], 8]);
});
