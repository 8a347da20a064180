import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMarkdownLines } from './markdown.ts';
import { createPaint } from './paint.ts';

const plain = { paint: createPaint(false), columns: 40 };

test('each kind of block is rendered', () => {
  const text = [
    '# Title',
    'Some *soft* and **hard** `code` words that do not fit into one row.',
    '- one\n- two\n  1. deep\n  2. deeper\n- [x] done',
    '```ts\nconst a = 1;\n\nconst b = 2;\n```',
    '> quoted\n> twice',
    '---',
    '<b>html</b> &amp; entity',
  ].join('\n\n');
  assert.deepEqual(toMarkdownLines(text, plain), [
    'Title',
    '',
    'Some soft and hard code words that do',
    'not fit into one row.',
    '',
    '• one',
    '• two',
    '  1. deep',
    '  2. deeper',
    '• ☑ done',
    '',
    '  ts',
    '  const a = 1;',
    '  ',
    '  const b = 2;',
    '',
    '│ quoted',
    '│ twice',
    '',
    '────────────────────────────────────────',
    '',
    '<b>html</b> & entity',
  ]);
});

test('a table is aligned by visible width, and wrapped if it is too wide', () => {
  const text = '| name | 数 |\n|---|--:|\n| 日本 | 1 |\n| a long text that has to be folded somewhere | 22 |';
  assert.deepEqual(toMarkdownLines(text, { ...plain, columns: 30 }), [
    'name                      │ 数',
    '──────────────────────────┼───',
    '日本                      │  1',
    'a long text that has to   │ 22',
    'be folded somewhere       │',
  ]);
});

test('a link shows where it leads', () => {
  const text = '[my bank](https://evil.example) and https://a.example/x';
  assert.deepEqual(toMarkdownLines(text, { ...plain, columns: 90 }), [
    'my bank (https://evil.example) and https://a.example/x',
  ]);
});

test('colours are used if they are wanted', () => {
  const [line] = toMarkdownLines('a **b**', { ...plain, paint: createPaint(true) });
  assert.equal(line, 'a \u001b[1mb\u001b[22m');
});
