import { isAsked } from '../../../src/agent/message.ts';
import type { Evidence, Finding, WorkstreamOnDisk } from '../evidence.ts';

/** The stored text of a model turn is the streamed one, and tool results and approvals were sent as they are stored. */
export function* transcript({ disk }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    const { wsId } = workstream;
    yield* differences({ what: 'the model’s words', where: wsId }, streamedWords(workstream), storedWords(workstream));
    yield* differences({ what: 'the user’s words', where: wsId }, streamedQuestions(workstream), questions(workstream));
    yield* resultsAsStored(workstream);
  }
}

function* differences({ what, where }: Finding, told: string[], stored: string[]): Generator<Finding> {
  const index = stored.findIndex((text, at) => text !== told[at]);
  const at = index < 0 && told.length > stored.length ? stored.length : index;
  if (at < 0) return;
  yield { what: `${what}, text ${at + 1}: sent ${excerpt(told[at])}, stored ${excerpt(stored[at])}`, where };
}

const excerpt = (text: string | undefined): string =>
  text === undefined ? 'nothing' : JSON.stringify(text.length > 160 ? `…${text.slice(-160)}` : text);

/** The text of every model turn that was completed and not voided, except empty ones. */
function streamedWords({ events }: WorkstreamOnDisk): string[] {
  const texts: string[] = [];
  let text = '';
  for (const { event } of events) {
    if (event.type === 'thinking_start') text = '';
    else if (event.type === 'content') text += event.text;
    else if (event.type === 'stream_end') {
      if (!event.interrupted && text !== '') texts.push(text);
      text = '';
    }
  }
  return texts;
}

const storedWords = ({ messages }: WorkstreamOnDisk): string[] =>
  messages.flatMap(({ runId, message }) =>
    runId !== null && message.role === 'assistant' && message.content !== '' ? [message.content] : [],
  );

const streamedQuestions = ({ events }: WorkstreamOnDisk): string[] =>
  events.flatMap(({ event }) => (event.type === 'user_turn' ? [event.message] : []));

const questions = ({ messages }: WorkstreamOnDisk): string[] =>
  messages.flatMap(({ runId, message }) => (runId !== null && isAsked(message) ? [message.content] : []));

/** An abandoned run sends no results, so fewer may be sent than stored. */
function* resultsAsStored({ wsId, events, messages, agents }: WorkstreamOnDisk): Generator<Finding> {
  const stored = new Map(
    [...messages, ...agents.flatMap((agent) => agent.messages)].flatMap(({ message }) =>
      message.role === 'tool' ? [[message.callId, message] as const] : [],
    ),
  );
  for (const { offset, event } of events) {
    if (event.type !== 'tool_result') continue;
    const message = stored.get(event.call_id);
    if (message?.output === event.output && message.outcome === event.outcome) continue;
    yield {
      what: `the result of ${event.call_id} was sent differently from how it is stored`,
      where: `${wsId}:${offset}`,
    };
  }
}
