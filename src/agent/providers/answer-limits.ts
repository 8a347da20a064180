import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { ProviderError } from './model.ts';
import type { AnswerLimits } from './models-config.ts';
import { nameOf, type Upstream } from './provider-error.ts';

/**
 * Watches one answer: its bytes as they arrive and its parts as they are read. Throws `over_limit` when it grows beyond
 * what one answer may be (a model that repeats itself forever is not silent, so no deadline would end it), and `refused`
 * when what arrives is no event stream at all.
 */
export function createAnswerMeter(limits: AnswerLimits, upstream: Upstream) {
  const tooLong = (what: string) =>
    new ProviderError('over_limit', `The answer of ${nameOf(upstream)} was ended: it is longer than ${what}.`);
  let chars = 0;
  let calls = 0;
  let unread = 0;
  let hasBegun = false;
  return {
    bytes(bytes: Uint8Array): void {
      if (!hasBegun) refuseDocument(bytes, upstream);
      hasBegun = true;
      unread += bytes.length;
      // Nothing comes of a line without an end, but its reader has to keep it.
      if (unread > BYTES_PER_CHAR * limits.maxChars) throw tooLong(`${limits.maxChars} characters in one piece`);
    },
    part(part: LanguageModelV4StreamPart): void {
      unread = 0;
      if ('delta' in part) chars += part.delta.length;
      if (part.type === 'tool-input-start') calls += 1;
      if (chars > limits.maxChars) throw tooLong(`${limits.maxChars} characters`);
      if (calls > limits.maxToolCalls) throw tooLong(`${limits.maxToolCalls} tool calls`);
    },
  };
}

/** The longest way to write a character in JSON is `\u0000`. */
const BYTES_PER_CHAR = 6;
const MAX_SHOWN = 200;

/** Event streams begin with a field name or a comment; a page or a JSON object is what a wrong address answers with. */
function refuseDocument(bytes: Uint8Array, upstream: Upstream): void {
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_SHOWN)).trim();
  if (text.startsWith('<'))
    throw new ProviderError('refused', `${nameOf(upstream)} answered with a web page: is its address right?`);
  if (text.startsWith('{') || text.startsWith('['))
    throw new ProviderError('refused', `${nameOf(upstream)} answered with JSON instead of an event stream: ${text}`);
}
