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

/** Each message waits for the ranking. */
const MOST_RANKING_WORDS = 20;

/** Words that say nothing about what a text is about. */
const COMMON = new Set(
  `about after all also and any are but can could did does for from get had has have how into its just let like make may
  more not now one our out please should some than that the their them then there these they this use was were what when
  where which who why will with would you your`.split(/\s+/),
);

/**
 * The expression that finds texts with any of the words of these texts, the first ones before all others; undefined if
 * there are none. It is for rankings, so common words are left out.
 */
export function toRankingQuery(texts: readonly string[]): string | undefined {
  const words = new Set<string>();
  for (const text of texts) {
    const found = toIndexed(text.replaceAll(NEVER_IN_QUOTES, ' ')).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
    for (const word of found.filter(hasWord)) {
      const lower = word.toLowerCase();
      if (words.size < MOST_RANKING_WORDS && !COMMON.has(lower) && (lower.length > 2 || UNSPACED.test(lower)))
        words.add(lower);
      UNSPACED.lastIndex = 0;
    }
  }
  return words.size === 0 ? undefined : [...words].map((word) => `"${word}"`).join(' OR ');
}
