const CACHED = 1_000;
const cache = new Map<string, string>();

/**
 * Numbers the placeholders of a statement as PostgreSQL needs it: `?` and `?2` become `$1` and `$2`. A `?` without a number
 * counts on from the largest one so far, as in SQLite.
 */
export function withNumbers(sql: string): string {
  const found = cache.get(sql);
  if (found !== undefined) return found;
  let last = 0;
  const numbered = sql.replace(TOKEN, (token, given: string | undefined) => {
    if (token.endsWith(' ()')) return /^not/i.test(token) ? `<> all ('{}')` : `= any ('{}')`;
    if (!token.startsWith('?')) return token;
    const number = given === undefined ? last + 1 : Number(given);
    last = Math.max(last, number);
    return `$${number}`;
  });
  if (cache.size < CACHED) cache.set(sql, numbered);
  return numbered;
}

/** Texts, quoted names and comments, in which a question mark is no placeholder; and placeholders. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\b(?:not )?in \(\)|\?(\d+)?/gi;
