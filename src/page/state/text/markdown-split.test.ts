import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Token, Tokens } from 'marked';
import { splitMarkdown } from './markdown-split.ts';

const shape = (parts: ReturnType<typeof splitMarkdown>) =>
  parts.map(({ at, token }) => ({ at, type: token.type, raw: token.raw, ...listShape(token) }));

const listShape = (token: Token) =>
  token.type === 'list'
    ? {
        start: token.start,
        loose: token.loose,
        items: token.items.map(({ raw, task }: Tokens.ListItem) => [raw, task]),
      }
    : {};

test('blocks have their offset in the text', () => {
  assert.deepEqual(shape(splitMarkdown('# A\n\ntext\n\n```js\n1\n```')), [
    { at: 0, type: 'heading', raw: '# A' },
    { at: 5, type: 'paragraph', raw: 'text' },
    { at: 11, type: 'code', raw: '```js\n1\n```' },
  ]);
});

test('only the last block and the text after it are parsed again', () => {
  const before = splitMarkdown('one\n\ntwo');
  const after = splitMarkdown('one\n\ntwo and three', before);
  assert.equal(after[0], before[0]);
  assert.deepEqual(shape(after), shape(splitMarkdown('one\n\ntwo and three')));
});

test('only the last item of a list is parsed again', () => {
  const before = splitMarkdown('- one\n- two\n- thr');
  const after = splitMarkdown('- one\n- two\n- three\n- four', before);
  const [list] = after;
  assert.deepEqual(shape(after), shape(splitMarkdown('- one\n- two\n- three\n- four')));
  const itemsOf = (part: (typeof after)[number] | undefined) => (part?.token.type === 'list' ? part.token.items : []);
  assert.deepEqual(
    itemsOf(list).map((item: Tokens.ListItem, index: number) => item === itemsOf(before[0])[index]),
    [true, true, false, false],
  );
});

test('a paragraph that looked complete can continue', () => {
  let parts: ReturnType<typeof splitMarkdown> = [];
  const text = 'a | b\n--|--|--\n<b>x</b>\n- word';
  for (let end = 1; end <= text.length; end += 1) parts = splitMarkdown(text.slice(0, end), parts);
  assert.deepEqual(shape(parts), shape(splitMarkdown(text)));
});

test('a text that arrives in pieces is split like the whole text', () => {
  const snippet = fc.constantFrom(
    'word ',
    '\n',
    '\n\n',
    '- item\n',
    '- ',
    '- item\n\n',
    '  - below\n',
    ' - askew\n',
    '* star\n',
    '- [ ] task\n',
    '- [x] done\n\n  more\n',
    '1) one\n',
    '    - deep\n',
    '- - -\n',
    '  lazy\n',
    '1. one\n',
    '> quote\n',
    '```\n',
    'code\n',
    '| a | b |\n|---|---|\n',
    '# head\n',
    '    indented\n',
    '---\n',
    '**bold**',
    '<b>x</b>\n',
    '===\n',
  );
  fc.assert(
    fc.property(fc.array(snippet, { maxLength: 24 }), (snippets) => {
      let text = '';
      let parts: ReturnType<typeof splitMarkdown> = [];
      for (const piece of snippets) {
        text += piece;
        parts = splitMarkdown(text, parts);
      }
      assert.deepEqual(shape(parts), shape(splitMarkdown(text)));
    }),
    { numRuns: 2_000 },
  );
});
