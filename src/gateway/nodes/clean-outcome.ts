import { isRecord } from '../../../protocol/is-record.ts';
import type { Outcome } from './invocation-outcome.ts';

/** The answer of a node with every text in it cleaned, before it is stored or returned. */
export function cleanOutcome(outcome: Outcome, clean: (text: string) => string): Outcome {
  if (outcome.kind === 'error') return { ...outcome, message: clean(outcome.message) };
  const { payload, payloadJSON } = outcome;
  return {
    kind: 'ok',
    payload: cleanValue(payload, clean),
    payloadJSON: payloadJSON === null ? null : cleanJson(payloadJSON, clean),
  };
}

/** Text within JSON is cleaned without its escapes; other text as it is. */
function cleanJson(json: string, clean: (text: string) => string): string {
  try {
    return JSON.stringify(cleanValue(JSON.parse(json), clean));
  } catch {
    return clean(json); // not JSON, or too deep
  }
}

function cleanValue(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, clean));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), cleanValue(inner, clean)]));
}
