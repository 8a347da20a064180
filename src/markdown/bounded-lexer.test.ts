import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lexer, type Token } from 'marked';
import { BoundedLexer } from './bounded-lexer.ts';

const read = (text: string): Token[] => [...new BoundedLexer().lex(text)];

/** How deeply blocks are nested. */
const depthOf = (tokens: readonly Token[] = []): number =>
  tokens.length === 0
    ? 0
    : 1 +
      Math.max(
        ...tokens.map((token) =>
          'items' in token ? depthOf(token.items) : 'tokens' in token ? depthOf(token.tokens) : 0,
        ),
      );

test('usual Markdown is read as without limits', () => {
  const text =
    '# A\n\n> - one *two* `three`\n>   1. [four](https://x.io)\n\n| a | b |\n| - | - |\n| 1 | **2** |\n\n```js\n> code\n```\n';
  assert.deepEqual(read(text), [...new Lexer({ gfm: true }).lex(text)]);
});

test('the innermost of deeply nested blocks stay text', () => {
  for (const mark of ['> ', '- ', '1. ', '+ ']) {
    const tokens = read(`${mark.repeat(5_000)}end`);
    assert.ok(depthOf(tokens) < 100, mark);
    assert.equal(tokens.map(({ raw }) => raw).join(''), `${mark.repeat(5_000)}end`);
  }
});

test('a paragraph that is too long stays text, those beside it do not', () => {
  const long = 'a_b '.repeat(10_000);
  const [first, , second] = read(`${long}\n\n*short*`);
  assert.deepEqual(
    [first, second].map((token) => token && 'tokens' in token && token.tokens?.map(({ type }) => type)),
    [['text'], ['em']],
  );
});

test('lines that continue quotations again and again stay text in the end, and none is lost', () => {
  const text = `${'>> a\n> b\n'.repeat(3_000)}x`;
  const tokens = read(text);
  assert.equal(tokens.map(({ raw }) => raw).join(''), text);
});
