import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { ProviderError } from './model.ts';
import type { AnswerLimits } from './models-config.ts';
import { nameOf, type Upstream } from './provider-error.ts';

/**
 * Limits one answer by its bytes and parts. Throws `over_limit` when it grows too long, because a model that repeats
 * itself forever would never hit a timeout. Throws `refused` when the response is not an event stream.
 */
export function createAnswerMeter(limits: AnswerLimits, upstream: Upstream) {
  const tooLong = (what: string) =>
    new ProviderError('over_limit', `The answer of ${nameOf(upstream)} was stopped: it is longer than ${what}.`);
  let chars = 0;
  let calls = 0;
  let unread = 0;
  let hasBegun = false;
  return {
    bytes(bytes: Uint8Array): void {
      if (!hasBegun) refuseDocument(bytes, upstream);
      hasBegun = true;
      unread += bytes.length;
      // A line without an end produces no part, but its reader must buffer it.
      if (unread > BYTES_PER_CHAR * limits.maxChars) throw tooLong(`${limits.maxChars} characters in one piece`);
    },
    part(part: LanguageModelV4StreamPart): void {
      unread = 0;
      if ('delta' in part) chars += part.delta.length;
      if (part.type === 'tool-input-start') {
        calls += 1;
        chars += part.toolName.length;
      }
      if (chars > limits.maxChars) throw tooLong(`${limits.maxChars} characters`);
      if (calls > limits.maxToolCalls) throw tooLong(`${limits.maxToolCalls} tool calls`);
    },
  };
}

export type AnswerMeter = ReturnType<typeof createAnswerMeter>;

/** The longest form of a character in JSON is `\u0000`. */
const BYTES_PER_CHAR = 6;
const MAX_SHOWN = 200;

/** Event streams begin with a field name or a comment. A web page or a JSON object means that the address is wrong. */
function refuseDocument(bytes: Uint8Array, upstream: Upstream): void {
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_SHOWN)).trim();
  if (text.startsWith('<'))
    throw new ProviderError('refused', `${nameOf(upstream)} answered with a web page. Check its address.`);
  if (text.startsWith('{') || text.startsWith('['))
    throw new ProviderError('refused', `${nameOf(upstream)} answered with JSON instead of an event stream: ${text}`);
}
