/** A code block whose fence is longer than every row of backticks in it. */
export function fence(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((row) => row.length));
  const marks = '`'.repeat(longest + 1);
  return `${marks}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${marks}`;
}
