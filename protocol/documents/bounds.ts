import { z } from 'zod';
import { CONTRACTS } from '../index.ts';
import { PlainName, PlainText } from '../text/plain-text.ts';
import { jsonSchemaDocument } from './documents.ts';

type Schema = z.core.JSONSchema.BaseSchema;

/** The limits of all params as a Markdown table, which PROTOCOL.md contains between markers. */
export function boundsTable(): string {
  const { methods, $defs = {} } = jsonSchemaDocument();
  const rows = Object.keys(CONTRACTS).flatMap((method) => {
    const { params }: { params?: Schema } = Reflect.get(methods, method);
    const bounds = [...boundsOf(params, '', $defs)];
    const places = Map.groupBy(bounds, ({ words }) => words);
    const cells = [...places].map(
      ([words, of]) => `${[...new Set(of.map(({ place }) => place))].join(', ')}: ${words}`,
    );
    return cells.length === 0 ? [] : [`| \`${method}\` | ${cells.join('; ')} |`];
  });
  return ['| Method | Bounds |', '|---|---|', ...rows].join('\n');
}

/** The limits of a schema and of everything inside it. */
function* boundsOf(
  schema: Schema | boolean | undefined,
  place: string,
  defs: Record<string, Schema>,
): Generator<{ place: string; words: string }> {
  if (typeof schema !== 'object') return;
  const name = schema.$ref?.split('/').at(-1);
  const known = name === undefined ? schema : defs[name];
  if (known === undefined) throw new Error(`no schema is called ${name}`);
  const words = wordsFor(known);
  if (words !== undefined) yield { place: `\`${place}\``, words };
  for (const [field, inner] of Object.entries(known.properties ?? {})) {
    yield* boundsOf(inner, place === '' ? field : `${place}.${field}`, defs);
  }
  for (const option of [...(known.anyOf ?? []), ...(known.oneOf ?? [])]) yield* boundsOf(option, place, defs);
  for (const item of [known.items].flat()) yield* boundsOf(item, `${place}[]`, defs);
}

/** Words for patterns that are hard to read. */
const PATTERNS: ReadonlyMap<string | undefined, string> = new Map([
  [z.toJSONSchema(PlainText).pattern, 'plain'],
  [z.toJSONSchema(PlainName).pattern, 'one plain line'],
]);

/** Undefined if the schema only requires that a value is present. */
function wordsFor(schema: Schema): string | undefined {
  const { maxLength, minItems, maxItems, pattern } = schema;
  const text = [
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(pattern === undefined || pattern === '\\S' ? [] : [PATTERNS.get(pattern) ?? `matches \`${pattern}\``]),
    ...(maxItems === undefined ? [] : [`${minItems === undefined ? 'at most' : `${minItems} to`} ${maxItems} entries`]),
    ...numbersOf(schema),
  ];
  return text.length === 0 ? undefined : text.join(', ');
}

function numbersOf({ minimum, maximum }: Schema): string[] {
  if (maximum === undefined) return minimum === undefined || minimum === 0 ? [] : [`at least ${minimum}`];
  return [minimum === undefined ? `at most ${maximum}` : `${minimum} to ${maximum}`];
}
