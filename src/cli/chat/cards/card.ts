import type { CallOutcome, HistoryMessage } from '../../../../protocol/stream-events.ts';
import { joinLines } from '../../../../protocol/text/trimmed-text.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { firstArgument } from './first-argument.ts';

/** A finished tool call with all of its output. */
export interface Card {
  name: string;
  /** What it worked on; empty if nothing names it. */
  subject: string;
  isDone: boolean;
  output: string;
}

/** The newest are kept. */
const MOST_CARDS = 200;
const MOST_CHARS = 20_000_000;

/** The finished calls of a conversation, oldest first. */
export interface Cards {
  readonly all: readonly Card[];
  add(call: { name: string; subject: string | undefined }, result: { output: string; outcome: CallOutcome }): void;
  /** Begins again with the calls of stored messages. */
  restore(messages: readonly HistoryMessage[]): void;
}

export function createCards(): Cards {
  let all: Card[] = [];
  let chars = 0;
  const keep = (card: Card) => {
    all.push(card);
    chars += card.output.length;
    while (all.length > 1 && (all.length > MOST_CARDS || chars > MOST_CHARS)) chars -= all.shift()?.output.length ?? 0;
  };
  return {
    get all() {
      return all;
    },
    add({ name, subject = '' }, { output, outcome }) {
      keep({ name: toOneLine(name), subject: toOneLine(subject), isDone: outcome === 'done', output });
    },
    restore(messages) {
      [all, chars] = [[], 0];
      const calls = new Map(messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => [call.id, call])));
      for (const { role, call_id, content, outcome = 'done' } of messages) {
        const call = role === 'tool' && call_id !== undefined ? calls.get(call_id) : undefined;
        if (call === undefined) continue;
        const subject = toOneLine(firstArgument(call.arguments));
        keep({ name: toOneLine(call.name), subject, isDone: outcome === 'done', output: content ?? '' });
      }
    },
  };
}

const toOneLine = (text: string): string => joinLines(toSafeText(text));
