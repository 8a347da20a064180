import assert from 'node:assert/strict';
import type { Key } from 'node:readline';
import { test } from 'node:test';
import type { HistoryMessage } from '../../../../protocol/stream-events.ts';
import { createPaint } from '../../terminal/paint.ts';
import { type Card, createCards } from './card.ts';
import { createCardsView } from './cards-view.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, line) => `line ${line + 1}`).join('\n');
const card = (subject: string, lines: number, isDone = true): Card => ({
  name: 'bash',
  subject,
  isDone,
  output: numbered(lines),
});
const CARDS = [card('npm ci', 3), card('npm test', 10_000, false), card('ls', 0)];

function open(cards: readonly Card[] = CARDS, size = { columns: 60, rows: 15 }) {
  const view = createCardsView(cards);
  const lines = () => view.lines({ ...size, paint: createPaint(false) });
  lines();
  return {
    lines,
    press: (...keys: (string | Key)[]) =>
      keys.map((key) => (typeof key === 'string' ? view.press(key, {}) : view.press(undefined, key))),
  };
}

const [UP, RIGHT, ENTER] = [{ name: 'up' }, { name: 'right' }, { name: 'return' }];

test('the calls are a list with the last one chosen', () => {
  assert.deepEqual(open().lines().slice(0, 4), [
    'Calls of this conversation (3)',
    '  ▸ ✔ bash npm ci (3 lines)',
    '  ▸ ✖ bash npm test (10,000 lines)',
    '› ▸ ✔ bash ls (0 lines)',
  ]);
});

test('a call is unfolded with some lines, with more, and folded again', () => {
  const { press, lines } = open();
  press(UP, RIGHT, '-');
  assert.deepEqual(lines().slice(2, 9), [
    '› ▾ ✖ bash npm test (10,000 lines)',
    ...[1, 2, 3, 4, 5].map((n) => `    line ${n}`),
    '    … 9,995 lines more',
  ]);
  press('+', '+');
  assert.ok(lines().includes('    line 9'));
  press({ name: 'left' });
  assert.equal(lines().length, 5);
  press('a');
  assert.deepEqual([lines().filter((line) => line.includes('▾')).length > 0, lines().length <= 14], [true, true]);
  press('a');
  assert.equal(lines().length, 5);
});

test('Enter shows the whole output page by page, without drawing more than fits', () => {
  const { press, lines } = open();
  press(UP, ENTER);
  assert.deepEqual([lines()[0], lines()[1]], ['✖ bash npm test (1–12 of 10,000 lines)', 'line 1']);
  press(' ', { name: 'down' });
  assert.equal(lines()[1], 'line 14');
  press(ENTER, ENTER, 'G'); // before it is drawn
  assert.deepEqual([lines()[0], lines().at(-2)], ['✖ bash npm test (9,989–10,000 of 10,000 lines)', 'line 10000']);
  press('p');
  assert.equal(lines()[0], '✔ bash npm ci (1–3 of 3 lines)');
  assert.deepEqual(press({ name: 'escape' }, { name: 'escape' }), [true, false]);
});

test('at 20 columns no row is wider, and a long line is wrapped only in the whole output', () => {
  const { press, lines } = open([{ ...card('a'.repeat(200), 1), output: 'x'.repeat(50) }], { columns: 20, rows: 10 });
  assert.ok(lines().every((line) => line.length <= 20));
  press(ENTER);
  assert.deepEqual(lines().slice(1, 4), ['x'.repeat(20), 'x'.repeat(20), 'x'.repeat(10)]);
});

test('the calls of stored messages are there, too, without control characters in their names', () => {
  const cards = createCards();
  const message = (more: Partial<HistoryMessage>): HistoryMessage => ({
    ...{ seq: 1, role: 'assistant', content: null, tool_calls: null },
    ...more,
  });
  cards.restore([
    message({ tool_calls: [{ id: 'c', name: 'bash', arguments: '{"command":"l\\u001b[31ms\\n-a"}' }] }),
    message({ role: 'tool', call_id: 'c', content: 'a\nb', outcome: 'failed' }),
    message({ role: 'tool', call_id: 'other', content: 'x' }),
  ]);
  assert.deepEqual(cards.all, [{ name: 'bash', subject: 'ls -a', isDone: false, output: 'a\nb' }]);
});

test('only the newest calls are kept', () => {
  const cards = createCards();
  for (let n = 0; n < 230; n += 1) {
    const output = n > 226 ? 'x'.repeat(9_000_000) : String(n);
    cards.add({ name: 'bash', subject: undefined }, { output, outcome: 'done' });
  }
  assert.deepEqual(
    cards.all.map(({ output }) => output.length),
    [9_000_000, 9_000_000],
  );
});
