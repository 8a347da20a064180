import { isRecord } from '../../../protocol/is-record.ts';
import { readJson } from '../connections/json-text.ts';
import type { Outcome } from './invocation-outcome.ts';

const MAX_CODE = 128;
const MAX_MESSAGE = 2_000;

/** The answer of a node with every text in it cleaned, before it is stored or returned. */
export function cleanOutcome(outcome: Outcome, clean: (text: string) => string): Outcome {
  if (outcome.kind === 'error') {
    const { code, message } = outcome;
    // Shortened last, because the beginning of a secret is not recognised as one.
    return { kind: 'error', code: short(clean(code), MAX_CODE), message: short(clean(message), MAX_MESSAGE) };
  }
  const { payload, payloadJSON } = outcome;
  return {
    kind: 'ok',
    payload: cleanValue(payload, clean),
    payloadJSON: payloadJSON === null ? null : cleanJson(payloadJSON, clean),
  };
}

const short = (text: string, maxChars: number): string => text.slice(0, maxChars).toWellFormed();

/** Text within JSON is cleaned without its escapes; other text as it is. */
function cleanJson(json: string, clean: (text: string) => string): string {
  try {
    const value: unknown = JSON.parse(json);
    const cleaned = JSON.stringify(cleanValue(value, clean));
    // Writing it again would change numbers. Text that repeats a name may hide something in the one that is not read.
    return cleaned === JSON.stringify(value) && readJson(json).kind === 'read' ? json : cleaned;
  } catch {
    return clean(json); // not JSON, or too deep
  }
}

/** Every text in it cleaned, names too. */
export function cleanValue(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, clean));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), cleanValue(inner, clean)]));
}
