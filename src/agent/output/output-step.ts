import type { OutputError } from '../../../protocol/run-outcome.ts';
import type { Message, UserMessage } from '../message.ts';
import { markOf } from '../prefix/environment-mark.ts';
import { messagesAfter, toldMessage } from '../prefix/open-turn.ts';
import type { Prefix } from '../prefix/prefix.ts';
import type { RunContext } from '../run/run-context.ts';
import type { CheckedOutput, OutputSchema } from './output-checks.ts';

/** How often a model may try again after an answer that does not fit. */
export const MAX_OUTPUT_RETRIES = 2;

/** What a run needs to answer with data. */
export interface RunOutput {
  schema: OutputSchema;
  /** Whether the caller may give instructions that count as those of a person who may approve. */
  isTrusted: boolean;
  /** Checks an answer. Rejects with the signal's reason. */
  check(text: string, signal: AbortSignal): Promise<CheckedOutput>;
}

type Telling = Pick<RunContext, 'runId' | 'messages' | 'output'>;

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

/** Tells the model why its answer does not fit. */
export function refusalMessage(
  { messages, output }: { messages: readonly Message[]; output: RunOutput },
  prefix: Prefix,
  errors: readonly OutputError[],
): Message {
  const lines = errors.map(({ path, message }) => `- ${path === '' ? 'the whole value' : path}: ${message}`);
  const text = `Your answer does not fit the JSON Schema of the request:
${lines.join('\n').replaceAll('<', '&lt;')}
Answer again with one JSON value that fits, without any other text.`;
  return trustedAs(output, toldMessage(messages, prefix, { text }));
}

/** The schema and the names of properties are not the daemon's own words, so they count no more than the request. */
function trustedAs({ isTrusted }: RunOutput, { trusted: _, ...message }: UserMessage): Message {
  return { ...message, ...(isTrusted && { trusted: true as const }) };
}
