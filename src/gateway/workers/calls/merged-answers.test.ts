import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MERGED } from './merged-answers.ts';

const merged = (method: string, ...answers: unknown[]): unknown => MERGED.get(method)?.(answers);
const stamped = (...times: number[]) => times.map((createdMs) => ({ wsId: `ws${createdMs}`, createdMs }));

test('workstreams of all machines are listed by their age', () => {
  assert.deepEqual(
    merged(
      'workstream.list',
      { workstreams: stamped(2, 5) },
      { workstreams: stamped(1, 4) },
      { workstreams: stamped() },
    ),
    { workstreams: stamped(1, 2, 4, 5) },
  );
});

test('the dashboard shows the workstreams of all machines and the sums of their numbers', () => {
  const of = (workstreams: unknown[], total: number) => ({
    workstreams,
    totalTokens: total,
    totalToolCalls: total + 1,
    activeCount: total + 2,
    node: `n${total}`,
  });
  assert.deepEqual(merged('workstream.dashboard', of(['a'], 10), of(['b', 'c'], 20)), {
    workstreams: ['a', 'b', 'c'],
    totalTokens: 30,
    totalToolCalls: 32,
    activeCount: 34,
    node: 'n10',
  });
});

test('approvals of all machines are listed by the time at which they were asked', () => {
  const asked = (...times: number[]) => ({ approvals: times.map((askedAtMs) => ({ askedAtMs })) });
  assert.deepEqual(merged('approval.list', asked(3), asked(1, 4)), asked(1, 3, 4));
});

test('a session that several machines know is listed once, and the newest first', () => {
  const session = (sessionId: string, updatedAt: number | null) => ({ sessionId, updatedAt });
  const of = (path: string, ...sessions: object[]) => ({ ts: 1, path, count: sessions.length, defaults: {}, sessions });
  assert.deepEqual(
    merged(
      'sessions.list',
      of('here', session('a', 5), session('b', null), session('c', 7)),
      of('there', session('a', 5), session('d', 6)),
    ),
    of('here', session('c', 7), session('d', 6), session('a', 5), session('b', null)),
  );
});

test('a list without any answer is an error', () => {
  for (const merge of MERGED.values()) assert.throws(() => merge([]), /no machine has answered/);
});
