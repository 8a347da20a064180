import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPaint } from '../terminal/paint.ts';
import type { Top, TopRow } from './read-top.ts';
import { toTopLines } from './top-lines.ts';

const row = (name: string, state: TopRow['state'], more: Partial<TopRow> = {}): TopRow => ({
  ...{ wsId: name, name, state, title: null, totalTokens: 0, contextRatio: 0, activity: '', activityState: 'idle' },
  ...{ toolCalls: 0, modelAlias: 'm', model: 'm', costUsd: undefined },
  ...more,
});

const total = { turns: 1, inputTokens: 120_000, outputTokens: 3_000, costUsd: 0.418, unpricedTokens: 0 };
const top: Top = {
  atMs: 0,
  version: '0.1.0',
  uptimeSeconds: 11_100,
  workstreams: [
    row('kitchen', 'attention', { activity: 'bash: rm -rf build', totalTokens: 950, costUsd: 0.001 }),
    row('garden', 'running', { activity: 'bash: npm\n test', totalTokens: 3_420_000, contextRatio: 0.063 }),
    row('shed\u001b[31m', 'error', { title: 'Fix the roof' }),
    row('attic', 'thinking'),
  ],
  today: { ...total, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  schedule: { enabled: true, switchedOffBy: [], jobs: 0, nextWakeAtMs: null, next: undefined, failing: [], missed: [] },
};
const lines = (columns: number, maxRows = 24) =>
  toTopLines(top, { paint: createPaint(false), columns }, { maxRows, here: { nowMs: 0, tz: 'UTC' } });

test('the summary counts the states; each row has tokens, cost, context and what it does', () => {
  assert.deepEqual(lines(100), [
    'Headgate 0.1.0 · 2 run, 1 wait, 1 failed, 0 idle · today 123k tokens, $0.42 · up 3 h 5 min',
    'STATE   NAME     TOKENS     COST  CONTEXT  DOES',
    'waits   kitchen     950  $0.0010      0 %  bash: rm -rf build',
    'runs    garden     3.4M        –      6 %  bash: npm test',
    'failed  shed          0        –      0 %  Fix the roof',
    'runs    attic         0        –      0 %  asks the model',
  ]);
});

test('no row is wider than the terminal, and what does not fit below is counted', () => {
  const narrow = lines(40, 6);
  assert.ok(narrow.every((line) => line.length <= 40));
  assert.equal(narrow.at(-1), '… and 2 more');
});
