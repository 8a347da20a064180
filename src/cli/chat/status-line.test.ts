import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPaint } from '../terminal/paint.ts';
import { type StatusFacts, toStatusLine } from './status-line.ts';

const facts: StatusFacts = {
  model: 'scripted',
  workdir: '/home/me/src/a-long-name-of-a-project',
  mode: 'ask',
  usage: {
    prompt_tokens: 12_000,
    completion_tokens: 300,
    total_tokens: 12_300,
    context_window: 200_000,
    pct: 6.15,
    effort: 'medium',
    cache_creation_tokens: 0,
    cache_read_tokens: 0,
  },
  spent: { costUsd: 0.0421 },
  tabs: [{ name: 'main', state: 'idle', isCurrent: true }],
  userHome: '/home/me',
};
const line = (columns: number, more: Partial<StatusFacts> = {}) =>
  toStatusLine({ ...facts, ...more }, { paint: createPaint(false), columns })[0] ?? '';

test('one row has the model, the folder, the mode, the tokens and the cost', () => {
  assert.equal(line(100), '── scripted · ~/src/a-long-name-of-a-project · ask · 12k tokens (6 %) · $0.0421');
});

test('on a narrow terminal, the folder is shortened first, and the row never wraps', () => {
  for (const columns of [20, 40, 60, 80]) assert.ok(line(columns).length <= columns, `${columns}: ${line(columns)}`);
  assert.match(line(60), /^── scripted · ….*project · ask · 12k tokens \(6 %\) · \$0\.0421$/);
});

test('several tabs are listed with their states', () => {
  const tabs = [
    { name: 'main', state: 'running', isCurrent: true },
    { name: 'garden', state: 'attention', isCurrent: false },
  ] as const;
  assert.match(line(120, { tabs }), /^── \[1 main…\] 2 garden\? · scripted · /);
});

test('what is unknown is left out; before the first snapshot there is no row', () => {
  assert.equal(line(80, { usage: undefined, spent: undefined }), '── scripted · ~/src/a-long-name-of-a-project · ask');
  assert.equal(line(80, { model: '' }), '');
});
