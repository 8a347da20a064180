import { Lexer, type Token } from 'marked';

/** One block of a Markdown text: a paragraph, a list, a code fence. */
export interface MarkdownPart {
  /** Where it begins in the text: its identity while the text grows. */
  at: number;
  token: Token;
}

/**
 * Splits a text into blocks. Given what it returned for a shorter beginning of the same text, only the last block and
 * what follows are read again, so that a streaming answer costs the length of its last block and not of all of it.
 */
export function splitMarkdown(text: string, earlier: readonly MarkdownPart[] = []): readonly MarkdownPart[] {
  const kept = earlier.slice(0, -1);
  const from = earlier.at(-1)?.at ?? 0;
  const parts: MarkdownPart[] = [...kept];
  let at = from;
  for (const token of new Lexer({ gfm: true }).lex(text.slice(from))) {
    if (token.type !== 'space' && token.type !== 'def') parts.push({ at, token });
    at += token.raw.length;
  }
  return parts;
}
