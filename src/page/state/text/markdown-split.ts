import type { Token, Tokens } from 'marked';
import { BoundedLexer } from '../../../markdown/bounded-lexer.ts';
import { EXTRAS } from './markdown-extras.ts';

/** One block of a Markdown text: a paragraph, a list, a code fence. */
export interface MarkdownPart {
  /** Its offset in the text, which identifies it while the text grows. */
  at: number;
  token: Token;
}

/**
 * Splits a text into blocks. Given the result for a shorter beginning of the same text, it parses only the end again:
 * the last block, and the one before it if the two may still merge. A streaming answer then costs the length of its
 * last blocks only. Of a list, only the last item is parsed again, because long lists are slow to parse.
 */
export function splitMarkdown(text: string, earlier: readonly MarkdownPart[] = []): readonly MarkdownPart[] {
  const settled = countSettled(earlier);
  const next = earlier[settled];
  const grown = next && isList(next.token) ? growList(text, { at: next.at, list: next.token }) : undefined;
  return [...earlier.slice(0, settled), ...(grown ?? readFrom(text, next?.at ?? 0))];
}

/**
 * Number of blocks that can no longer change. `- - -` is a rule until `- - - x` continues the list above; paragraphs
 * may continue too.
 */
function countSettled(parts: readonly MarkdownPart[]): number {
  const [above, last] = [parts.at(-2), parts.at(-1)];
  if (!above || !last) return 0;
  const isNextLine = above.at + above.token.raw.length === last.at;
  const mayGoOn = isList(above.token) || (above.token.type === 'paragraph' && isNextLine);
  return parts.length - (mayGoOn ? 2 : 1);
}

function readFrom(text: string, from: number): MarkdownPart[] {
  const parts: MarkdownPart[] = [];
  let at = from;
  for (const token of new BoundedLexer(EXTRAS).lex(text.slice(from))) {
    if (token.type !== 'space' && token.type !== 'def') parts.push({ at, token });
    at += token.raw.length;
  }
  return parts;
}

/** Undefined if the last item, parsed alone, is not a list of the same kind. */
function growList(text: string, { at, list }: { at: number; list: Tokens.List }): MarkdownPart[] | undefined {
  const settled = list.items.slice(0, -1);
  if (settled.length === 0) return undefined;
  const itemAt = settled.reduce((end, { raw }) => end + raw.length, at);
  const [first, ...after] = readFrom(text, itemAt);
  if (!first || first.at !== itemAt || !isList(first.token) || first.token.ordered !== list.ordered) return undefined;
  const more = first.token;
  const grown: Tokens.List = {
    ...list,
    raw: text.slice(at, itemAt) + more.raw,
    items: [...settled, ...more.items],
    loose: list.loose || more.loose,
  };
  return [{ at, token: grown }, ...after];
}

const isList = (token: Token): token is Tokens.List => token.type === 'list';
