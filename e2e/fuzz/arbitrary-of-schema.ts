import fc from 'fast-check';
import { z } from 'zod';

/** The parts of JSON Schema that the params of the contract use. */
interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

/** Meaningful values for properties with these names, such as existing ids. */
export type Known = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Valid values for the schema; small ones, because many are needed. */
export const arbitraryOf = (schema: z.ZodType, known: Known): fc.Arbitrary<unknown> =>
  valuesOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema, known); // the format that zod writes

function valuesOf(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  const options = schema.anyOf ?? schema.oneOf;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (options) return fc.oneof(...options.map((option) => valuesOf(option, known)));
  switch (schema.type) {
    case 'object':
      return objectOf(schema, known);
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, known), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, 4),
      });
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 1_000_000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf({ properties = {}, required = [] }: Schema, known: Known): fc.Arbitrary<unknown> {
  const shape = Object.entries(properties).map(([name, inner]) => {
    const any = valuesOf(inner, known);
    const meant = known[name];
    return [name, meant ? fc.oneof({ weight: 3, arbitrary: meant }, { weight: 1, arbitrary: any }) : any] as const;
  });
  return fc.record(Object.fromEntries(shape), { requiredKeys: required });
}

function textOf({ pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { maxLength: 64 });
  return fc.string({ unit: 'binary', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) });
}
