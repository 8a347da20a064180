import stringWidth from 'string-width';

/**
 * Characters that take one column, whatever is beside them: printable ASCII, Latin letters, the signs of this program and the
 * lines of its tables. Neither a combining mark nor anything that can become an emoji.
 */
const PLAIN =
  /^[\x20-\x7e\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f\u00b7\u2013\u2018-\u201d\u2022\u2026\u203a\u2500-\u257f]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the beginning of a sequence that gives text a style.
const STYLE = /\x1b\[[\d;]*m/g;

/** How many columns a terminal needs for a text, without its escape sequences. */
export function widthOf(text: string): number {
  const bare = text.includes('\x1b') ? text.replaceAll(STYLE, '') : text;
  return PLAIN.test(bare) ? bare.length : stringWidth(text);
}
