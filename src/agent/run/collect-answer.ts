import type { AssistantMessage, CutPart, ToolCall } from '../message.ts';
import type { ModelPart, Usage } from '../providers/model.ts';
import type { Cut } from './journal.ts';
import type { Recorder } from './recorder.ts';

/** The last part of an answer. */
export type Finish = Extract<ModelPart, { type: 'finish' }>;

/** An answer whose stream has ended. */
export interface CollectedAnswer {
  message: AssistantMessage;
  finish: Finish | undefined;
  /** How it reached the output limit. */
  cut: Cut | undefined;
  /** The tokens of both requests, if the answer was continued. */
  spent: Usage | undefined;
  /** Something was shown. */
  spoke: boolean;
}

/** Collects an answer while it streams, and shows it. `onCall`: a call is whole. */
export function collectAnswer(recorder: Pick<Recorder, 'emit'>, onCall?: (call: ToolCall) => void) {
  const calls: ToolCall[] = [];
  let content = '';
  let reasoning = '';
  let finish: Finish | undefined;
  let spoke = false;
  let first: { part: CutPart; finish: Finish } | undefined;

  const message = (): AssistantMessage => ({
    role: 'assistant',
    content,
    ...(reasoning !== '' && { reasoning }),
    toolCalls: calls,
    ...(finish?.providerData && { providerData: finish.providerData }),
    ...imagesOf(finish),
  });
  const isContinued = () => first !== undefined && (content.length > first.part.contentChars || calls.length > 0);
  const firstWord = () => {
    if (!spoke) recorder.emit({ type: 'thinking_stop' });
    spoke = true;
  };
  return {
    take(part: ModelPart) {
      if (part.type === 'finish') {
        finish = part;
        return;
      }
      firstWord();
      if (part.type === 'tool_call') {
        calls.push(part.call);
        onCall?.(part.call);
        return;
      }
      if (part.text === '') return;
      recorder.emit({ type: part.type, text: part.text });
      if (part.type === 'content') content += part.text;
      else reasoning += part.text;
    },
    /**
     * Begins the continuation of a text that reached the output limit; returns the message so far. Undefined if there is
     * nothing to continue: the answer is complete, has no text yet, or was cut in its calls; or if `mayFollow` refuses
     * another request after the usage of the first.
     */
    continueCut(mayFollow: (used: Usage) => boolean): AssistantMessage | undefined {
      if (finish?.reason !== 'length' || calls.length > 0 || content.trim() === '') return undefined;
      if (!mayFollow(finish.usage)) return undefined;
      const { providerData } = finish;
      const part = {
        contentChars: content.length,
        reasoningChars: reasoning.length,
        ...(providerData && { providerData }),
      };
      first = { part, finish };
      finish = undefined;
      return { ...message(), ...imagesOf(first.finish), toolCalls: [], cutPart: part };
    },
    isContinued,
    whole(): CollectedAnswer {
      if (!first) return { message: message(), finish, cut: cutOf(finish), spent: undefined, spoke };
      if (!isContinued()) {
        const { providerData } = first.part;
        const unchanged = { ...message(), ...imagesOf(first.finish), ...(providerData && { providerData }) };
        return { message: unchanged, ...lost(first.finish, finish), spoke };
      }
      const cut = cutOf(finish) && ('again' as const);
      const spent = sumUsage(first.finish.usage, finish?.usage);
      return { message: { ...message(), ...imagesOf(first.finish), cutPart: first.part }, finish, cut, spent, spoke };
    },
    partial: (): AssistantMessage | undefined =>
      content === '' && reasoning === '' ? undefined : { ...message(), toolCalls: [], partial: true },
  };
}

const imagesOf = (finish: Finish | undefined): Pick<AssistantMessage, 'images'> =>
  finish?.images ? { images: finish.images } : {};

const cutOf = (finish: Finish | undefined): Cut | undefined => (finish?.reason === 'length' ? 'once' : undefined);

/** An answer whose continuation had no text. */
const lost = (first: Finish, second: Finish | undefined) => ({
  finish: first,
  cut: 'again' as const,
  spent: sumUsage(first.usage, second?.usage),
});

/** The tokens of both. */
const sumUsage = (one: Usage, other: Usage | undefined): Usage => ({
  promptTokens: one.promptTokens + (other?.promptTokens ?? 0),
  completionTokens: one.completionTokens + (other?.completionTokens ?? 0),
  cacheCreationTokens: one.cacheCreationTokens + (other?.cacheCreationTokens ?? 0),
  cacheReadTokens: one.cacheReadTokens + (other?.cacheReadTokens ?? 0),
  reasoningTokens: (one.reasoningTokens ?? 0) + (other?.reasoningTokens ?? 0),
});
