/** Finds pages of the documentation by their words. Runs in the browser and in tests. */

const MOST_RESULTS = 20;
const BEFORE = 60;
const AROUND = 200;

/** The words of a query: without punctuation, in lower case. */
const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [];

/**
 * The pages that contain every word of the query, or a word that begins with it, the best first. Titles count more than texts.
 * A page is `{ title, url, text }`.
 */
export function findPages(pages, query) {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  return pages
    .map((page) => ({ page, score: scoreOf(page, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.page.title.localeCompare(b.page.title))
    .slice(0, MOST_RESULTS)
    .map(({ page }) => ({ title: page.title, url: page.url, excerpt: excerptOf(page.text, words) }));
}

function scoreOf({ title, text }, words) {
  let score = 0;
  for (const word of words) {
    const begins = new RegExp(`(?<![\\p{L}\\p{N}_])${word}`, 'giu');
    const inTitle = title.match(begins)?.length ?? 0;
    const inText = text.match(begins)?.length ?? 0;
    if (inTitle + inText === 0) return 0;
    score += 20 * inTitle + Math.min(inText, 10);
  }
  return score;
}

function excerptOf(text, [word]) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - BEFORE);
  const piece = text.slice(at, at + AROUND).trim();
  return `${at > 0 ? '…' : ''}${piece}${at + AROUND < text.length ? '…' : ''}`;
}
