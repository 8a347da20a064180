import { parentPort } from 'node:worker_threads';
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isRecord } from '../../../protocol/is-record.ts';
import type { OutputError } from '../../../protocol/run-outcome.ts';

/** A schema, and the JSON text that is to fit it; without one, only the schema is checked. */
export interface OutputTask {
  schema: Record<string, unknown>;
  json?: string;
}

export type OutputMessage =
  | { kind: 'fits' }
  | { kind: 'errors'; errors: OutputError[] }
  | { kind: 'unusable'; reason: string };

const OPTIONS: Options = { allErrors: true, strict: false, logger: false, allowUnionTypes: true };
const DRAFT_7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const DRAFT_2020 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const MAX_ERRORS = 10;
const MAX_PATH_CHARS = 200;
const MAX_MESSAGE_CHARS = 300;

function answer({ schema, json }: OutputTask): OutputMessage {
  const { $schema: draft } = schema;
  const isDraft7 = typeof draft === 'string' && DRAFT_7.test(draft);
  if (draft !== undefined && !isDraft7 && !(typeof draft === 'string' && DRAFT_2020.test(draft)))
    return { kind: 'unusable', reason: '$schema must name draft 2020-12 or draft-07' };
  // Without `loadSchema`, a reference that leaves the schema is an error: nothing is ever fetched.
  const ajv = isDraft7 ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  addFormats.default(ajv);
  try {
    const fits = ajv.compile(schema);
    if (json === undefined || fits(JSON.parse(json))) return { kind: 'fits' };
    return { kind: 'errors', errors: (fits.errors ?? []).slice(0, MAX_ERRORS).map(toOutputError) };
  } catch (error) {
    return { kind: 'unusable', reason: error instanceof Error ? error.message.slice(0, MAX_MESSAGE_CHARS) : '' };
  }
}

function toOutputError({ instancePath, message = 'does not fit', params }: ErrorObject): OutputError {
  return {
    path: instancePath.slice(0, MAX_PATH_CHARS),
    message: `${message}${detailOf(params)}`.slice(0, MAX_MESSAGE_CHARS),
  };
}

/** What some messages of the library leave out. */
function detailOf(params: unknown): string {
  if (!isRecord(params)) return '';
  const { allowedValues, allowedValue, additionalProperty, unevaluatedProperty } = params;
  const detail = allowedValues ?? allowedValue ?? additionalProperty ?? unevaluatedProperty;
  return detail === undefined ? '' : `: ${JSON.stringify(detail)}`;
}

// It says when it is ready, because a busy machine may take seconds to load it, and only the check itself has a time limit.
parentPort?.once('message', (task: OutputTask) => parentPort?.postMessage(answer(task)));
parentPort?.postMessage('ready');
