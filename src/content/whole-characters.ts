const ESCAPE = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;
const HALF = '\\ud';

/**
 * JSON.stringify writes half of a surrogate pair as an escape, and many servers and clients refuse a text with one. Such
 * halves come from texts of others, and from those that were cut. They become the replacement character.
 */
export const withWholeCharacters = (json: string): string =>
  json.includes(HALF) ? json.replace(ESCAPE, (found) => (found.startsWith(HALF) ? '\\ufffd' : found)) : json;
