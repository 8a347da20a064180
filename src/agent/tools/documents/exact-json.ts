declare global {
  // In Node since 22; the types of the language do not have it yet.
  interface JSON {
    rawJSON(text: string): object;
    parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

/**
 * Parses JSON so that `JSON.stringify` writes numbers and texts as they were: `1.0`, integers with more digits than a number
 * has, and escapes. Such a value becomes an object.
 */
export const parseExactly = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, { source }) =>
    source === undefined || JSON.stringify(value) === source ? value : JSON.rawJSON(source),
  );
