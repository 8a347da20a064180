import { Lexer, type Token, type Tokens } from 'marked';

/** One block of a Markdown text: a paragraph, a list, a code fence. */
export interface MarkdownPart {
  /** Where it begins in the text: its identity while the text grows. */
  at: number;
  token: Token;
}

/**
 * Splits a text into blocks. Given the result for a shorter beginning of the same text, only the last block and the text
 * after it are read again, so that a streaming answer costs the length of its last block and not of all of it. Of a list,
 * only the last item is read again: lists are the one kind of block that grows long and is slow to read.
 */
export function splitMarkdown(text: string, earlier: readonly MarkdownPart[] = []): readonly MarkdownPart[] {
  const last = earlier.at(-1);
  const grown = last && isList(last.token) ? growList(text, { at: last.at, list: last.token }) : undefined;
  return [...earlier.slice(0, -1), ...(grown ?? readFrom(text, last?.at ?? 0))];
}

function readFrom(text: string, from: number): MarkdownPart[] {
  const parts: MarkdownPart[] = [];
  let at = from;
  for (const token of new Lexer({ gfm: true }).lex(text.slice(from))) {
    if (token.type !== 'space' && token.type !== 'def') parts.push({ at, token });
    at += token.raw.length;
  }
  return parts;
}

/** Undefined where the last item does not begin a list like this one when it is read alone. */
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
