/** The text as the index of words stores it. */
export function toIndexed(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(EMOJI, (emoji) => ` ${toToken(emoji)} `)
    .replaceAll(UNSPACED, ' $& ');
}

/** The index would skip emoji, so each is stored as a word that nobody writes. */
const EMOJI = /\p{Extended_Pictographic}/gu;
const toToken = (emoji: string): string => `u${emoji.codePointAt(0)?.toString(16)}emoji`;

/** Scripts without spaces between words: each character counts as a word, and a searched word as a row of them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;

/** `nothing`: the query contains only characters that are not searched, such as punctuation. */
type WordQuery = { kind: 'words'; match: string } | { kind: 'nothing' } | { kind: 'too many words' };

/** More words would take long: each of them is looked up. */
export const MOST_WORDS = 32;

/**
 * The expression that finds texts with all words of a query. A word also finds longer words that begin with it, unless it
 * is a single character. The text of the query stands in quotes, so that none of it is read as an operator.
 */
export function toWordQuery(query: string): WordQuery {
  const words = new Set(query.replaceAll(NEVER_IN_QUOTES, ' ').split(/\s+/).map(toIndexed).filter(hasWord));
  if (words.size === 0) return { kind: 'nothing' };
  if (words.size > MOST_WORDS) return { kind: 'too many words' };
  const phrases = [...words].map((word) => `"${word.trim()}"${isPrefix(word) ? ' *' : ''}`);
  return { kind: 'words', match: phrases.join(' AND ') };
}

/** A quote would end the quoted text; a NUL character would end the expression. */
const NEVER_IN_QUOTES = /["\p{Cc}]/gu;

const hasWord = (word: string): boolean => /[\p{L}\p{N}]/u.test(word);
const isPrefix = (word: string): boolean => /[\p{L}\p{N}]{2}$/u.test(word.trim()) && !word.endsWith(' ');
