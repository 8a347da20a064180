import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitMarkdown } from './markdown-split.ts';

const shape = (parts: ReturnType<typeof splitMarkdown>) =>
  parts.map(({ at, token }) => ({ at, type: token.type, raw: token.raw }));

test('blocks know where they begin', () => {
  assert.deepEqual(shape(splitMarkdown('# A\n\ntext\n\n```js\n1\n```')), [
    { at: 0, type: 'heading', raw: '# A' },
    { at: 5, type: 'paragraph', raw: 'text' },
    { at: 11, type: 'code', raw: '```js\n1\n```' },
  ]);
});

test('only the last block and what follows is read again', () => {
  const before = splitMarkdown('one\n\ntwo');
  const after = splitMarkdown('one\n\ntwo and three', before);
  assert.equal(after[0], before[0]);
  assert.deepEqual(shape(after), shape(splitMarkdown('one\n\ntwo and three')));
});

test('a text that arrives in pieces is split as if it had come at once', () => {
  const snippet = fc.constantFrom(
    'word ',
    '\n',
    '\n\n',
    '- item\n',
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
    { numRuns: 500 },
  );
});
