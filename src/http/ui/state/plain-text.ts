/** Text for people out of what a program printed: no colour codes, no control characters, overwritten lines gone. */
export function toPlainText(printed: string): string {
  return printed
    .replace(ESCAPES, '')
    .replaceAll('\r\n', '\n')
    .replace(/(^|\n)[^\n]*\r(?=[^\n])/g, '$1') // a progress bar draws each state over the last one
    .replace(CONTROLS, '');
}

/** The last `maxChars` of a text, cut at a line where one is near, and how much was let go before it. */
export function keepTail(text: string, maxChars: number): { text: string; dropped: number } {
  if (text.length <= maxChars) return { text, dropped: 0 };
  const cut = text.length - maxChars;
  const line = text.indexOf('\n', cut) + 1;
  const from = line > 0 && line - cut < 500 ? line : cut;
  return { text: text.slice(from), dropped: from };
}

// Operating-system commands (titles, links) end with BEL or ST; control sequences with a letter; the rest is short.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes.
  /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-9;:?<=>!]*[ -/]*[@-~]?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-~]?/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes.
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]/g;
