import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lexer, type Token } from 'marked';
import { EXTRAS, isFootnote, isFootnoteMark, isMath } from './markdown-extras.ts';
import { splitMarkdown } from './markdown-split.ts';

/** The formulas and footnotes of a text, and nothing else. */
function extrasOf(text: string): string[] {
  const toLines = (token: Token): string[] => {
    if (isMath(token)) return [`${token.isBlock ? 'block' : 'inline'}: ${token.text}`];
    if (isFootnoteMark(token)) return [`mark ${token.label}`];
    const inner = 'tokens' in token && token.tokens ? token.tokens.flatMap(toLines) : [];
    return isFootnote(token)
      ? [`note ${token.label}: ${token.tokens.map(({ raw }) => raw).join('')}`, ...inner]
      : inner;
  };
  return new Lexer(EXTRAS).lex(text).flatMap(toLines);
}

test('formulas are found between dollars and between backslashes with brackets', () => {
  const text = 'So $a^2$ and \\(b_1\\), then $$c + d$$.\n\n$$\ne = mc^2\n$$\n\n\\[\nf\n\\]\nend';
  assert.deepEqual(extrasOf(text), ['inline: a^2', 'inline: b_1', 'block: c + d', 'block: e = mc^2', 'block: f']);
});

test('money, shell variables, code and escaped dollars are no formulas', () => {
  const texts = [
    'It costs $5 and $6.',
    '$5-$6',
    'echo $HOME and $PATH',
    '`$a$`',
    '\\$a\\$',
    '$ a $',
    '```\n$$a$$\n```',
    '$$$',
  ];
  assert.deepEqual(
    texts.map(extrasOf),
    texts.map(() => []),
  );
});

test('footnotes have a number or a word, and their lines may go on', () => {
  assert.deepEqual(extrasOf('Yes[^1] and no[^why].\n\n[^1]: Because\n  of *that*.\n[^why]: See $x$.'), [
    'mark 1',
    'mark why',
    'note 1: Because\nof *that*.',
    'note why: See $x$.',
    'inline: x',
  ]);
  assert.deepEqual(extrasOf('Use [^a-z] or [^"] here.'), []);
});

test('a text that grows has the same blocks as the whole text', () => {
  const text = 'One[^1] $a$\n\n$$\nb\n$$\n\n- x\n- $y$\n\n[^1]: Note\n  goes on\n\nend $z';
  const whole = splitMarkdown(text).map(({ at, token }) => [at, token.type, token.raw]);
  let parts = splitMarkdown('');
  for (let end = 1; end <= text.length; end += 1) parts = splitMarkdown(text.slice(0, end), parts);
  assert.deepEqual(
    parts.map(({ at, token }) => [at, token.type, token.raw]),
    whole,
  );
});
