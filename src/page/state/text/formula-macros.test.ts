import assert from 'node:assert/strict';
import { test } from 'node:test';
import katex from 'katex';
import { macrosFor } from './formula-macros.ts';

const draw = (tex: string) =>
  katex.renderToString(tex, { output: 'mathml', strict: 'ignore', maxExpand: macrosFor(tex) ?? 0 });

test('a formula may define macros and use them, as long as it does not become much longer by them', () => {
  assert.match(draw(String.raw`\newcommand{\Rr}{\mathbb{R}} f: \Rr \to \Rr`), /double-struck.*double-struck/);
  const long = String.raw`\def\a{${'x'.repeat(1_900)}}${String.raw`\a`.repeat(900)}`;
  assert.throws(() => draw(long), /Too many expansions/);
});

test('without macros of its own, only the length of a formula counts', () => {
  assert.deepEqual(
    [macrosFor('x'.repeat(4_000)), macrosFor('x'.repeat(4_001)), macrosFor(String.raw`\define`)],
    [1_000, undefined, 1_000],
  );
});
