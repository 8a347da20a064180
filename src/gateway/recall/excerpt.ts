/** Characters before the first word found, and in all. */
const BEFORE = 40;
const MOST = 180;

/** The part of a text around the first of the words that occurs in it, in one line. */
export function toExcerpt(text: string, query: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const lower = line.toLowerCase();
  const places = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => lower.indexOf(word))
    .filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const space = line.indexOf(' ', first - BEFORE);
  const isInWord = space < 0 || space >= first; // which is longer than what is shown before
  const start = first <= BEFORE ? 0 : isInWord ? first : space + 1;
  const part = line
    .slice(start, start + MOST)
    .toWellFormed()
    .replace(/\uFFFD$/, '');
  return `${start > 0 ? '… ' : ''}${part}${start + MOST < line.length ? ' …' : ''}`;
}
