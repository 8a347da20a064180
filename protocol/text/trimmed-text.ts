/** The names in a text with commas. */
export const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** Without the characters of `off` at its end. `/[…]+$/` would take a time that grows with the square of a long text. */
export function trimEndOf(text: string, off: string): string {
  let end = text.length;
  while (end > 0 && off.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** On one line: `by` replaces each line break with the white space around it. */
export const joinLines = (text: string, by = ' '): string =>
  text.replaceAll(/\s+/g, (space) => (space.includes('\n') ? by : space));
