import type { MarkedOptions, Token, Tokens } from 'marked';

/** A formula in TeX. */
export interface MathToken extends Tokens.Generic {
  type: 'math';
  text: string;
  /** On lines of its own. */
  isBlock: boolean;
}

/** `[^1]` in a text. */
export interface FootnoteMark extends Tokens.Generic {
  type: 'footnoteMark';
  label: string;
}

/** `[^1]: …` at the start of a line. */
export interface Footnote extends Tokens.Generic {
  type: 'footnote';
  label: string;
  tokens: Token[];
}

export const isMath = (token: Token): token is MathToken => token.type === 'math';
export const isFootnoteMark = (token: Token): token is FootnoteMark => token.type === 'footnoteMark';
export const isFootnote = (token: Token): token is Footnote => token.type === 'footnote';

/** `$5 and $6` is no formula: it begins and ends with a character that is no space, and no digit follows. */
const INLINE_MATH = /^(?:\$(?![\s$])((?:\\[^\n]|[^\\$\n])*?[^\s\\$])\$(?![\d$])|\\\(([^\n]+?)\\\))/;
/** It ends where the next mark stands, and contains none: the rest of a text is not searched for each one that begins. */
const BLOCK_MATH = /^ {0,3}(?:\$\$((?:[^$]|\$(?!\$))+)\$\$|\\\[((?:[^\\]|\\(?![[\]]))+)\\\])[ \t]*(?:\n+|$)/;
const WIDE_MATH = /^\$\$(?!\s*\$)([^$\n]+?)\$\$/;
/** A label is a number or a word, because `[^a-z]` in a text is more often a pattern. */
const MARK = /^\[\^(\d{1,3}|[a-z]\w{1,31})\](?!:)/i;
const NOTE = /^ {0,3}\[\^(\d{1,3}|[a-z]\w{1,31})\]:[ \t]*(?![ \t])([^\n]*(?:\n(?: {2}|\t)[^\n]+)*)(?:\n+|$)/i;

const toMath = (raw: string, text: string, isBlock: boolean): MathToken => ({
  type: 'math',
  raw,
  text: text.trim(),
  isBlock,
});

type Inline = NonNullable<NonNullable<MarkedOptions['extensions']>['inline']>[number];

const readInline: Inline = (src) => {
  const wide = WIDE_MATH.exec(src);
  if (wide) return toMath(wide[0], wide[1] ?? '', true);
  const math = INLINE_MATH.exec(src);
  if (math) return toMath(math[0], math[1] ?? math[2] ?? '', false);
  const mark = MARK.exec(src);
  if (mark) return { type: 'footnoteMark', raw: mark[0], label: mark[1] ?? '' };
  return undefined;
};

const readMathBlock: Inline = (src) => {
  const math = BLOCK_MATH.exec(src);
  return math ? toMath(math[0], math[1] ?? math[2] ?? '', true) : undefined;
};

const readFootnote: Inline = function read(src) {
  const note = NOTE.exec(src);
  if (!note) return undefined;
  const text = (note[2] ?? '').replaceAll(/\n[ \t]+/g, '\n');
  return { type: 'footnote', raw: note[0], label: note[1] ?? '', tokens: this.lexer.inlineTokens(text) };
};

/** Where the next of them may begin, or -1. */
const startOf = (pattern: RegExp) => (src: string) => src.search(pattern);

/** What models write in addition to the standard: formulas and footnotes. */
export const EXTRAS: MarkedOptions = {
  gfm: true,
  extensions: {
    inline: [readInline],
    startInline: [startOf(/\$|\\\(|\[\^/)],
    block: [readMathBlock, readFootnote],
    startBlock: [startOf(/(?<=\n) {0,3}(?:\$\$|\\\[|\[\^\w+\]:)/)],
    renderers: {},
    childTokens: {},
  },
};
