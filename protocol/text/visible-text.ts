/**
 * Writes out what a person cannot see: control characters, direction overrides, zero-width and other invisible characters
 * become escapes such as `\u202e`. Line ends and tabs stay, because a preview has lines. More than four combining marks on
 * one character are written out too, because they would cover the lines around them.
 */
export function toVisibleText(text: string): string {
  return text.replace(INVISIBLE, toEscape);
}

/** Like `toVisibleText`, for one line: also escapes line ends and tabs. */
export function toVisibleLine(text: string): string {
  return toVisibleText(text).replace(/[\n\t]/g, (character) => (character === '\n' ? '\\n' : '\\t'));
}

/**
 * In addition to controls, formats and line separators: fillers, which Unicode counts as letters although they draw
 * nothing, and variation selectors, which can carry hidden text (except U+FE0F, which makes an emoji coloured).
 */
const INVISIBLE =
  /(?![\n\t])(?:\u034f|\u17b4|\u17b5|[\ufe00-\ufe0e]|[\u{e0100}-\u{e01ef}]|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?<=[\p{Mn}\p{Me}]{4})[\p{Mn}\p{Me}])/gu;

function toEscape(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
