import { isRecord } from '../is-record.ts';
import { ESSENTIAL_FIELDS, EXAMPLE_VALUES, REQUESTS } from './example-values.ts';

/** As much of an OpenAPI document as is read here. */
interface Document {
  paths?: object | undefined;
  components?: { schemas?: object | undefined } | undefined;
}
type Json = Record<string, unknown>;

/**
 * Adds an example to every body of the document and to every event. They are made from the schemas, with values by the name
 * of each field, so that a new row has its examples, too.
 */
export function addExamples<D extends Document>(document: D): D {
  const schemas: Json = { ...document.components?.schemas };
  for (const schema of Object.values(schemas)) {
    if (isRecord(schema) && isEvent(schema)) schema.examples ??= [exampleOf(schema, schemas)];
  }
  for (const operation of operationsOf(document)) addToOperation(operation, schemas);
  return document;
}

const isEvent = ({ properties }: Json): boolean => isRecord(properties) && 'type' in properties;

function addToOperation({ operationId, requestBody, responses }: Json, schemas: Json): void {
  for (const [type, media] of mediaOf(requestBody)) {
    const own = type === 'application/json' ? REQUESTS[String(operationId)] : undefined;
    media.example ??= own ?? requestOf(media.schema, schemas);
  }
  for (const [status, response] of Object.entries(isRecord(responses) ? responses : {})) {
    for (const [type, media] of mediaOf(response)) {
      media.example ??= answerOf({ status, type, response }, media.schema, schemas);
    }
  }
}

function* operationsOf({ paths = {} }: Document): Generator<Json> {
  for (const path of Object.values(paths))
    for (const operation of Object.values(path ?? {})) if (isRecord(operation)) yield operation;
}

/** The bodies of a request or an answer, by content type. */
function* mediaOf(holder: unknown): Generator<[type: string, media: Json]> {
  if (!isRecord(holder) || !isRecord(holder.content)) return;
  for (const [type, media] of Object.entries(holder.content)) if (isRecord(media)) yield [type, media];
}

/** The fields that a client would usually send. */
function requestOf(schema: unknown, schemas: Json): unknown {
  const { properties = {}, required = [] } = resolve(schema, schemas);
  if (!isRecord(properties) || !Array.isArray(required)) return {};
  const names = Object.keys(properties).filter((name) => required.includes(name) || ESSENTIAL_FIELDS.has(name));
  return Object.fromEntries(names.map((name) => [name, fieldOf(name, properties[name], schemas)]));
}

interface AnswerPlace {
  status: string;
  type: string;
  response: unknown;
}

function answerOf({ status, type, response }: AnswerPlace, schema: unknown, schemas: Json): unknown {
  if (type === 'application/json') {
    if (!/^[45]/.test(status)) return exampleOf(schema, schemas);
    return { error: isRecord(response) ? response.description : '', request_id: EXAMPLE_VALUES.request_id };
  }
  if (type !== 'text/event-stream') return TEXTS[type] ?? 'the bytes';
  return `id: k3Jd:42\ndata: ${JSON.stringify(exampleOf(schema, schemas))}\n\n`;
}

const TEXTS: Record<string, string> = {
  'text/html; charset=utf-8': '<!doctype html>',
  'text/plain; version=0.0.4; charset=utf-8': 'service_uptime_seconds 12.5\n',
  'text/plain; charset=utf-8': 'Not found',
};

/** A value that fits the schema, with all required fields. */
function exampleOf(schema: unknown, schemas: Json): unknown {
  const { const: fixed, enum: choices, anyOf, oneOf, allOf, ...rest } = resolve(schema, schemas);
  if (fixed !== undefined) return fixed;
  if (Array.isArray(choices)) return choices[0];
  const [first] = [anyOf, oneOf, allOf].flat().filter((option) => option !== undefined);
  return first === undefined ? plainOf(rest, schemas) : exampleOf(first, schemas);
}

function plainOf(schema: Json, schemas: Json): unknown {
  const { type, properties = {}, required = [], items, minimum, format } = schema;
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object': {
      if (!isRecord(properties) || !Array.isArray(required)) return {};
      return Object.fromEntries(
        required.map((name) => [name, fieldOf(String(name), properties[String(name)], schemas)]),
      );
    }
    case 'array':
      return [exampleOf(items, schemas)];
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 1;
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'string':
      return format === 'binary' ? '(the bytes)' : 'text';
    default:
      return 'text';
  }
}

/** The value for fields of this name, if it has the type of the schema; otherwise one made from the schema. */
function fieldOf(name: string, schema: unknown, schemas: Json): unknown {
  const value = EXAMPLE_VALUES[name];
  const resolved = resolve(schema, schemas);
  const isFree = !['const', 'enum', 'anyOf', 'oneOf', 'pattern', 'properties', 'items'].some((key) => key in resolved);
  const types = [resolved.type].flat();
  return value !== undefined && isFree && types.some((type) => fits(value, type)) ? value : exampleOf(schema, schemas);
}

const fits = (value: unknown, type: unknown): boolean =>
  type === undefined || type === typeof value || (type === 'integer' && Number.isInteger(value));

function resolve(schema: unknown, schemas: Json): Json {
  if (!isRecord(schema)) return {};
  const { $ref } = schema;
  return typeof $ref === 'string' ? resolve(schemas[$ref.slice($ref.lastIndexOf('/') + 1)], schemas) : schema;
}
