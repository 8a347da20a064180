/**
 * Makes what a person cannot see visible: control characters, direction overrides, zero-width and other invisible
 * characters become `\u202e`. A line end and a tab stay, since a preview has lines. Combining marks beyond four on one
 * character are written out too: a pile of them would paint over the lines around it.
 */
export function toVisibleText(text: string): string {
  return text.replace(INVISIBLE, toEscape);
}

/** The same for a place that holds one line: line ends and tabs are escaped too. */
export function toVisibleLine(text: string): string {
  return toVisibleText(text).replace(/[\n\t]/g, (character) => (character === '\n' ? '\\n' : '\\t'));
}

/**
 * Besides controls, formats and line separators: fillers that are letters to Unicode yet draw nothing, and the variation
 * selectors that can carry hidden text (the one that makes an emoji coloured, U+FE0F, is left alone).
 */
const INVISIBLE =
  /(?![\n\t])(?:\u034f|\u17b4|\u17b5|[\ufe00-\ufe0e]|[\u{e0100}-\u{e01ef}]|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?<=[\p{Mn}\p{Me}]{4})[\p{Mn}\p{Me}])/gu;

function toEscape(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
