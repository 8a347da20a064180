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

test('a long paragraph is formatted in parts', () => {
  const text = 'Some *words* and `code`.\n'.repeat(2_000);
  const [paragraph] = read(text);
  const tokens = paragraph && 'tokens' in paragraph ? (paragraph.tokens ?? []) : [];
  assert.deepEqual(
    ['em', 'codespan'].map((kind) => tokens.filter(({ type }) => type === kind).length),
    [2_000, 2_000],
  );
  assert.equal(tokens.map(({ raw }) => raw).join(''), text.trimEnd());
  assert.equal(read('a_'.repeat(20_000)).length, 1);
});

test('lines that continue quotations again and again stay text in the end, and none is lost', () => {
  const text = `${'>> a\n> b\n'.repeat(3_000)}x`;
  const tokens = read(text);
  assert.equal(tokens.map(({ raw }) => raw).join(''), text);
});

test('a long quotation is formatted', () => {
  const [quotation] = read('> line with *words*\n>\n'.repeat(3_000));
  const lines = quotation && 'tokens' in quotation ? (quotation.tokens ?? []) : [];
  assert.equal(lines.filter(({ type }) => type === 'paragraph').length, 3_000);
});

test('emphasis in emphasis is read to a depth, and stays text below it', () => {
  const depth = (token: Token): number =>
    1 + Math.max(0, ...('tokens' in token && token.tokens ? token.tokens.map(depth) : []));
  for (const text of [`${'*'.repeat(2_900)}a${'*'.repeat(2_900)}`, `${'*a '.repeat(900)}b${'c*'.repeat(900)}`]) {
    const tokens = new BoundedLexer().lex(text);
    assert.ok(Math.max(...tokens.map(depth)) < 40);
    assert.equal(tokens.map(({ raw }) => raw).join(''), text);
  }
});
