import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lexer, type Token } from 'marked';
import { toPieces } from './paragraph-pieces.ts';

function inlinesOf(text: string): Token[] {
  const [token] = new Lexer({ gfm: true }).lex(text);
  return token?.type === 'paragraph' ? (token.tokens ?? []) : [];
}

const textOf = (pieces: Token[][]) => pieces.map((piece) => piece.map(({ raw }) => raw).join(''));

test('pieces end at words and add up to the paragraph', () => {
  const text = `${'some words and more of them '.repeat(400)}**bold** ${'then others '.repeat(300)}`.trim();
  const pieces = textOf(toPieces(inlinesOf(text)));
  assert.equal(pieces.join(''), text);
  assert.ok(pieces.length >= 6 && pieces.every((piece) => piece.length < 4_100));
  for (const piece of pieces.slice(0, -1)) assert.match(piece, /\s$/);
});

test('pieces end with a sentence or a line, so that no line breaks in the middle of one', () => {
  const sentences = 'Five words are in here. Is it, "so?" '.repeat(300).trim();
  const lines = 'a line without any full stop\n'.repeat(400).trim();
  const marked = 'some **bold** words with `code`, and an end. '.repeat(300).trim();
  for (const text of [sentences, lines, marked]) {
    const pieces = textOf(toPieces(inlinesOf(text)));
    assert.equal(pieces.join(''), text);
    assert.ok(pieces.length > 3);
    for (const piece of pieces.slice(0, -1)) assert.match(piece, /([.?]"? |\n)$/);
  }
});

test('a very long word is cut too', () => {
  const pieces = textOf(toPieces(inlinesOf('x'.repeat(9_000))));
  assert.deepEqual(
    pieces.map(({ length }) => length),
    [2_000, 2_000, 2_000, 2_000, 1_000],
  );
});

test('while the text grows, only the last piece changes', () => {
  const text = 'a sentence with **some** words and `code`. '.repeat(400).trim();
  const before = textOf(toPieces(inlinesOf(text.slice(0, 12_000))));
  const after = textOf(toPieces(inlinesOf(text)));
  assert.deepEqual(after.slice(0, before.length - 1), before.slice(0, -1));
});
