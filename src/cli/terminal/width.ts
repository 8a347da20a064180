import stringWidth from 'string-width';

/**
 * Characters that take one column, next to any other of them: printable ASCII, Latin letters, the signs of this program
 * and the lines of its tables. No combining mark, and not the selector that makes an emoji of a sign. Others are measured
 * by `Intl.Segmenter`, which takes 20 ms to load.
 */
const PLAIN =
  /^[\x20-\x7e\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f\u00b7\u00d7\u2013\u2014\u2018-\u201d\u2022\u2026\u203a\u2190-\u2193\u21b3\u2234\u2248\u2500-\u257f\u25a0\u25b8\u25be\u25cc\u25f7\u2714\u2716]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the beginning of a sequence that gives text a style.
const STYLE = /\x1b\[[\d;]*m/g;

/** How many columns a terminal needs for a text, without its escape sequences. */
export function widthOf(text: string): number {
  const bare = text.includes('\x1b') ? text.replaceAll(STYLE, '') : text;
  return PLAIN.test(bare) ? bare.length : stringWidth(text);
}
