/** The last `maxChars` of a text, cut at a line start if one is near, and the number of dropped characters. */
export function keepTail(text: string, maxChars: number): { text: string; dropped: number } {
  if (text.length <= maxChars) return { text, dropped: 0 };
  const cut = text.length - maxChars;
  const line = text.indexOf('\n', cut) + 1;
  const from = line > 0 && line - cut < 500 ? line : cut;
  return { text: text.slice(from), dropped: from };
}
