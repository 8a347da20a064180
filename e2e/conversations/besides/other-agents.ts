import type { WireRequest } from '../../support/wires/wire-server.ts';
import type { Reply } from '../simulate.ts';

/** A planner or a sub-agent, as its requests tell; undefined: the agent of the conversation. */
const kindOf = (before: string): 'sub-agent' | 'planner' | undefined => {
  if (before.includes('You are planning now')) return 'planner';
  return before.includes('You are a sub-agent') ? 'sub-agent' : undefined;
};

interface SentRequest {
  before: string;
  messages: readonly string[];
}

const PLAN =
  '## Goal\nIt.\n\n## Current State\nThe folder holds a few files, and none of them is about this.\n\n## Plan\n1. Begin.\n2. End.\n\n## Risks\nNone.';
const MOST_CALLS = 2;

/** Answers the agents beside the conversation, and compares their requests with the earlier ones of the same agent. */
export function createOtherAgents(violate: (what: string) => void) {
  const latest = new Map<string, SentRequest>();
  return {
    /** Undefined: it is a request of the conversation. */
    decide(request: WireRequest): Reply | undefined {
      const before = JSON.stringify(request.before) ?? '';
      const messages = request.messages.map((message) => JSON.stringify(message));
      const [first = ''] = messages;
      // On some wires, the system prompt is the first message.
      const [kind, task] = kindOf(before) ? [kindOf(before), first] : [kindOf(first), messages[1]];
      if (!kind) return undefined;
      // A summary replaces the task, and another model has a prefix of its own.
      const key = `${request.model} ${task}`;
      const what = differenceOf(latest.get(key), { before, messages }, kind);
      if (what !== undefined) violate(`${kind} not extended: ${request.wire} ${request.model}, ${what}`);
      latest.set(key, { before, messages });
      return kind === 'planner' ? { answer: { text: PLAN } } : workOf(messages);
    },
  };
}

/** Some calls first, and then words. */
function workOf(messages: readonly string[]): Reply {
  const text = messages.join();
  const made = text.split('"call_s').length - 1;
  if (made === 0 && text.length % 3 > 0) {
    const name = text.length % 2 === 0 ? 'look' : 'touch';
    const calls = Array.from({ length: 1 + (text.length % MOST_CALLS) }, (_, index) => ({
      ...{ id: `call_s${index}`, name },
      arguments: { text: `part ${index}`, chars: 30 },
    }));
    return { answer: { thoughts: 'I think about the part.', calls } };
  }
  return { answer: { thoughts: 'I think about the end.', text: 'The part is done.' } };
}

/** Its last message may be joined with what a restart adds. A planner begins anew after a restart. */
function differenceOf(last: SentRequest | undefined, next: SentRequest, kind: string): string | undefined {
  if (!last || (kind === 'planner' && next.messages.length < last.messages.length)) return undefined;
  if (last.before !== next.before) return 'its system prompt or its tools have changed';
  const at = last.messages.slice(0, -1).findIndex((message, index) => next.messages[index] !== message);
  return at < 0 ? undefined : `message ${at + 1} was ${last.messages[at]} and is ${next.messages[at]}`;
}
