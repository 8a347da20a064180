import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { findAnswered } from '../../answered-images.ts';
import { findCrowded, seenIn } from '../../attached-content.ts';
import { isAsked, type Message } from '../../message.ts';
import { markOf } from '../../prefix/environment-mark.ts';
import type { ModelRequest } from '../../providers/model.ts';
import { isLongOutput } from '../../shortened-output.ts';
import type { ModelWindow } from './model-windows.ts';
import type { ContextCut, NumberedMessage, Summarizer } from './run-window.ts';
import { type SummarySize, summarize } from './summary.ts';
import type { SummaryReport } from './summary-report.ts';
import { bytesOfMessage, bytesOfMessages } from './token-count.ts';

/** A cut, and the event that reports it. */
export interface PlannedCut {
  cut: ContextCut;
  events: StreamEvent[];
}

/** So many answers, with the results of their calls, keep their outputs. */
const KEPT_TURNS = 2;

/** Replaces long outputs of all turns but the last two, or of all. Undefined when there are none. */
export function planPrune(stored: readonly NumberedMessage[], options: { all: boolean }): PlannedCut | undefined {
  const answers = stored.filter(({ message }) => message.role === 'assistant');
  const firstKept = options.all ? undefined : answers.at(-KEPT_TURNS);
  const old = options.all ? stored : stored.filter(({ seq }) => firstKept !== undefined && seq < firstKept.seq);
  const outputs = old.filter(({ message }) => isLongOutput(message));
  const last = outputs.at(-1);
  if (!last) return undefined;
  const words = outputs.length === 1 ? 'One tool output was' : `${outputs.length} tool outputs were`;
  const message = `${words} taken out of the model’s context, because it was almost full. The model can read them again.`;
  return { cut: { kind: 'prune', toSeq: last.seq }, events: [{ type: 'info', message }] };
}

/** Replaces older attachments by words. Undefined while all fit into a request, or if only one message has any. */
export function planUnseen(stored: readonly NumberedMessage[]): PlannedCut | undefined {
  const last = stored[findCrowded(stored.map(({ message }) => message)) ?? -1];
  if (!last) return undefined;
  const message =
    'Older images and files were taken out of the model’s context, to make room for newer ones. It still knows their names.';
  return { cut: { kind: 'attachments', toSeq: last.seq }, events: [{ type: 'info', message }] };
}

/** Replaces the images that this model has answered with by words. Undefined when it reads none. */
export function planRefusedImages(stored: readonly NumberedMessage[], modelId: string): PlannedCut | undefined {
  const messages = stored.map(({ message }) => message);
  const { upTo, withheld } = findAnswered(messages, modelId);
  const shown = stored
    .slice(0, upTo)
    .flatMap(({ seq, message }) =>
      seenIn(message).flatMap(({ kind, attachment_id: id, filename }) =>
        kind === 'image' && !withheld.has(id) ? [{ seq, filename }] : [],
      ),
    );
  const last = shown.at(-1);
  if (!last) return undefined;
  const names = shown.map(({ filename }) => filename).join(', ');
  const message = `The model’s server refused a request because of an image, so these images were taken out of the model’s context: ${names}. The model still knows their names.`;
  return { cut: { kind: 'images', toSeq: last.seq }, events: [{ type: 'info', message }] };
}

/** Leaves out the signed reasoning of all answers. Undefined when there is none. */
export function planUnbound(stored: readonly NumberedMessage[]): PlannedCut | undefined {
  const last = stored.at(-1);
  const isSigned = stored.some(({ message }) => isSignedMessage(message));
  if (!last || !isSigned) return undefined;
  const message = 'The model’s server no longer accepts earlier reasoning, so the conversation goes on without it.';
  return { cut: { kind: 'unbind', toSeq: last.seq }, events: [{ type: 'info', message }] };
}

function isSignedMessage(message: Message): boolean {
  if (message.role === 'user') return message.summary?.signed !== undefined;
  return message.role === 'assistant' && (message.providerData ?? message.cutPart?.providerData) !== undefined;
}

interface Compacting {
  summarizer: Summarizer;
  window: ModelWindow;
  /** What stands before the messages of every request. */
  preambleBytes: number;
  /** What the person wants the summary to be about. */
  focus?: string;
  /** Keeps no message at all: the model goes on from the summary. */
  all?: true;
  /** The upstream refuses what is stored: keeps only what was not answered yet, and rejects if no model summarizes the rest. */
  isRefused?: true;
  /** What the model was sent last, where its maker may summarize it. */
  sent?: ModelRequest;
  report: SummaryReport;
  signal: AbortSignal;
}

/**
 * Replaces all messages but the newest by a summary. Undefined when little else is left. Rejects with the
 * model's error, or the signal's reason.
 */
export async function planCompaction(
  stored: readonly NumberedMessage[],
  { summarizer, focus, all, isRefused, sent, report, signal, ...space }: Compacting,
): Promise<PlannedCut | undefined> {
  const sizes = sizesIn(space);
  const tail = isRefused ? 0 : Math.min(sizes.tail, bytesOfMessages(stored.map(({ message }) => message)) * TAIL);
  const first = all ? stored.length : firstKept(stored, tail);
  const old = stored.slice(0, first);
  const last = old.at(-1);
  const messages = old.map(({ message }) => message);
  const kept = stored.slice(first).map(({ message }) => message);
  const size = sizesBeside(bytesOfMessages(kept), sizes);
  const isSummarized = old.every(isSummary);
  const usual = isSummarized ? size.text + size.rules + LEAST_BYTES : LEAST_BYTES;
  const least = isRefused ? 0 : usual;
  if (!last || (all ? isSummarized : bytesOfMessages(messages.filter((message) => !markOf(message))) < least))
    return undefined;
  await report.begun();
  const endsInTurn = !kept.some(isAsked);
  const before = sent && { request: sent, window: space.window };
  const wanted = { summarizer, size, focus, endsInTurn, isStrict: isRefused, sent: before, signal };
  const { summary, notes } = await summarize(messages, { ...wanted, onPart: report.part });
  const tokensOf = (all: readonly Message[]) =>
    Math.ceil((space.preambleBytes + bytesOfMessages(all)) / space.window.bytesPerToken);
  const event: StreamEvent = {
    type: 'compacted',
    to_seq: last.seq,
    messages: old.filter((one) => !isSummary(one)).length,
    summary: summary.content,
    before_tokens: tokensOf([...messages, ...kept]),
    after_tokens: tokensOf([summary, ...kept]),
  };
  return {
    cut: { kind: 'compaction', toSeq: last.seq, summary },
    events: [event, ...notes.map((text) => ({ type: 'info', message: text }) as const)],
  };
}

/** The summary of so little would hardly be shorter. */
const LEAST_BYTES = 1_000;

const isSummary = ({ message }: NumberedMessage): boolean => message.role === 'user' && message.summary !== undefined;

/** Assumed for a model whose window is not known. */
const USUAL_WINDOW = 32_768;
/** Of the window: answers need the rest. */
const USABLE = 0.8;
/** Even with a long preamble. */
const LEAST_FREE = 0.3;
/** For the messages that stay: of what is free, and of what there is, because a person may ask before it is full. */
const TAIL = 0.25;

interface Sizes extends SummarySize {
  /** What the preamble leaves for messages. */
  free: number;
  /** For the messages that stay. */
  tail: number;
}

/** Shares of what the preamble leaves free; together about 60 %, so that the conversation can go on for a while. */
function sizesIn({ window, preambleBytes }: Pick<Compacting, 'window' | 'preambleBytes'>): Sizes {
  const bytes = (window.size || USUAL_WINDOW) * window.bytesPerToken;
  const free = Math.max(bytes * USABLE - preambleBytes, bytes * LEAST_FREE);
  const share = (part: number) => Math.floor(free * part);
  return { free, tail: share(TAIL), text: share(0.2), rules: share(0.15), part: Math.floor(bytes * 0.5) };
}

/** A long last message takes its room from the summary, because it cannot be shortened. */
function sizesBeside(keptBytes: number, { free, text, rules, part }: Sizes): SummarySize {
  const room = Math.max(LEAST_BYTES, free - keptBytes);
  return { text: Math.min(text, Math.floor(room * 0.5)), rules: Math.min(rules, Math.floor(room * 0.4)), part };
}

/** The index of the latest message of the person if nothing was answered to it yet: what is attached to it was never seen. */
function firstUnanswered(stored: readonly NumberedMessage[]): number {
  const asked = stored.findLastIndex(({ message }) => isAsked(message));
  return stored.slice(asked + 1).some(({ message }) => message.role === 'assistant') || asked < 0
    ? stored.length
    : asked;
}

/**
 * The index of the first message that stays: as many as fit into `bytes`, at least the newest message with everything
 * that belongs to it. Results of calls never stay without their calls.
 */
function firstKept(stored: readonly NumberedMessage[], bytes: number): number {
  const unanswered = firstUnanswered(stored);
  let first = stored.length;
  let left = bytes;
  for (let index = stored.length - 1; index >= 0; index -= 1) {
    const message = stored[index]?.message;
    if (!message) continue;
    left -= bytesOfMessage(message);
    if (left < 0 && first < stored.length && first <= unanswered) break;
    if (message.role !== 'tool') first = index;
  }
  return first;
}
