declare global {
  // In Node since 22; the types of the language do not have it yet, nor the third argument below.
  interface JSON {
    rawJSON(text: string): object;
  }
}

type Revive = (key: string, value: unknown, context: { source?: string }) => unknown;

const parse = (text: string, revive: Revive): unknown => Reflect.apply(JSON.parse, JSON, [text, revive]);

/**
 * Parses JSON so that `JSON.stringify` writes numbers and texts as they were: `1.0`, integers with more digits than a number
 * has, and escapes. Such a value becomes an object.
 */
export const parseExactly = (text: string): unknown =>
  parse(text, (_, value, { source }) =>
    source === undefined || JSON.stringify(value) === source ? value : JSON.rawJSON(source),
  );
