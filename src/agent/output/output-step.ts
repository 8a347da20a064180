import type { OutputError } from '../../../protocol/run-outcome.ts';
import type { Message, UserMessage } from '../message.ts';
import { markOf } from '../prefix/environment-mark.ts';
import { messagesAfter, toldMessage } from '../prefix/open-turn.ts';
import type { Prefix } from '../prefix/prefix.ts';
import type { RunOutput } from './asked-output.ts';

/** How often a model may try again after an answer that does not fit. */
export const MAX_OUTPUT_RETRIES = 2;

interface Telling {
  runId: string;
  messages: readonly Message[];
  output: RunOutput | undefined;
}

/**
 * Tells the model of the schema, unless the messages that it reads have it. They lose it with a cut. It is a message of
 * this run and not part of the prefix, so that the next run can continue the conversation without it.
 */
export function schemaMessages({ runId, messages, output }: Telling, prefix: Prefix): Message[] {
  if (!output) return [];
  const isTold = messagesAfter(prefix, messages).some((message) => markOf(message)?.outputOf === runId);
  if (isTold) return [];
  const text = `The request above asks for data. Your last answer to it must be one JSON value that fits this JSON Schema, without any other text. You may use your tools before. This holds for this request only.
<schema>
${JSON.stringify(output.schema).replaceAll('<', '\\u003c')}
</schema>`;
  return [trustedAs(output, toldMessage(messages, prefix, { text, outputOf: runId }))];
}

/**
 * Tells the model why its answer does not fit. It stands between two answers, so it stays where a later prefix begins: it
 * tells what has happened.
 */
export function refusalMessage(output: RunOutput, errors: readonly OutputError[]): Message {
  const lines = errors.map(({ path, message }) => `- ${path === '' ? 'the whole value' : path}: ${message}`);
  const text = `Your answer does not fit the JSON Schema of the request:
${lines.join('\n').replaceAll('<', '&lt;')}
Answer again with one JSON value that fits, without any other text.`;
  return {
    role: 'user',
    content: `<environment>\n${text}\n</environment>`,
    ...(output.isTrusted && { trusted: true as const }),
    environment: {},
  };
}

/** The schema and the names of properties are not the daemon's own words, so they count no more than the request. */
function trustedAs({ isTrusted }: RunOutput, { trusted: _, ...message }: UserMessage): Message {
  return { ...message, ...(isTrusted && { trusted: true as const }) };
}
