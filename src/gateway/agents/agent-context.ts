import type { Message } from '../../agent/message.ts';
import type { Step } from '../../agent/run/recorder.ts';
import { afterCut } from '../../agent/run/window/after-cut.ts';
import type { ContextCount, ContextCut, NumberedMessage } from '../../agent/run/window/run-window.ts';

/** What the model of a sub-agent reads, as it is stored. */
export class AgentContext {
  readonly messages: Message[];
  /** The ids of all its calls, also of those that it no longer reads. */
  readonly earlierCalls: Set<string>;
  numbered: NumberedMessage[];
  messageCount: number;
  /** See `RunWindow`. */
  count: ContextCount | undefined;
  window = 0;

  constructor(all: readonly NumberedMessage[], cuts: readonly ContextCut[]) {
    this.messageCount = all.at(-1)?.seq ?? 0;
    this.earlierCalls = new Set(all.flatMap(({ message }) => callIdsIn(message)));
    this.numbered = cuts.reduce(afterCut, [...all]);
    this.messages = this.numbered.map(({ message }) => message);
  }

  /** Call it after the step is stored. */
  apply({ cut, messages = [], usage }: Step): void {
    if (cut) this.#cut(cut);
    for (const message of messages) this.#append(message);
    if (usage) this.#noteUsage(usage);
  }

  #cut(cut: ContextCut): void {
    this.numbered = afterCut(this.numbered, cut);
    this.messages.splice(0, this.messages.length, ...this.numbered.map(({ message }) => message));
    this.count = undefined;
  }

  #append(message: Message): void {
    this.messageCount += 1;
    this.numbered.push({ seq: this.messageCount, message });
    this.messages.push(message);
    for (const id of callIdsIn(message)) this.earlierCalls.add(id);
  }

  #noteUsage({ usage, contextWindow, afterSeq }: NonNullable<Step['usage']>): void {
    const { promptTokens, completionTokens } = usage;
    this.window = contextWindow;
    const isCounted = promptTokens > 0 && afterSeq !== undefined;
    this.count = isCounted ? { tokens: promptTokens + completionTokens, afterSeq } : undefined;
  }
}

const callIdsIn = (message: Message): string[] =>
  message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [];
