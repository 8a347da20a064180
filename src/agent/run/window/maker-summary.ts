import type { Message, SignedSummary } from '../../message.ts';
import { markOf } from '../../prefix/environment-mark.ts';
import { type ModelPart, type ModelRequest, ProviderError } from '../../providers/model.ts';
import type { ModelWindow } from './model-windows.ts';
import type { Summarizer } from './run-window.ts';
import { bytesOfMessages, bytesOfPreamble } from './token-count.ts';

/** A summary as its maker wrote it. */
interface MakerSummary {
  text: string;
  /** What the maker needs to accept it as its own. */
  providerData?: SignedSummary['providerData'];
}

/** The last request of a conversation, and the window of its model. */
export interface Sent {
  request: ModelRequest;
  window: ModelWindow;
}

interface Asking {
  summarizer: Summarizer;
  sent: Sent;
  /** What matters in the summary. */
  instructions: string;
  signal: AbortSignal;
}

/**
 * Asks the maker of the conversation's model for a summary of the messages, where it writes summaries. It gets them as it has
 * read them before, so most of them are in its cache. Undefined if it cannot, refuses, or answers with something else.
 */
export async function askMaker(
  messages: readonly Message[],
  { summarizer: { model, isOwn }, sent, instructions, signal }: Asking,
): Promise<MakerSummary | undefined> {
  const request = { ...sent.request, messages: messages.filter(isSentIn(sent.request)), toSummarize: { instructions } };
  if (!isOwn || !model.writesSummaries || !fits(request, sent.window)) return undefined;
  try {
    return await read(model.stream(request, signal));
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'refused') return undefined;
    throw error;
  } finally {
    signal.throwIfAborted();
  }
}

/** Messages of the daemon mean nothing after another prefix. */
const isSentIn =
  ({ conversation }: ModelRequest) =>
  (message: Message) =>
    (markOf(message)?.version ?? conversation) === conversation;

/** Up to this share of the window, a request whose size is only estimated fits. One that is refused as too long has cost a request. */
const SURELY = 0.85;

function fits(request: ModelRequest, { size, bytesPerToken }: ModelWindow): boolean {
  const instructions = request.toSummarize?.instructions ?? '';
  const bytes = bytesOfPreamble(request) + bytesOfMessages(request.messages) + Buffer.byteLength(instructions);
  return size === 0 || bytes / bytesPerToken < size * SURELY;
}

async function read(parts: AsyncIterable<ModelPart>): Promise<MakerSummary | undefined> {
  let text = '';
  for await (const part of parts) {
    if (part.type === 'content') text += part.text;
    if (part.type !== 'finish' || part.reason !== 'summary' || text.trim() === '') continue;
    return { text, ...(part.providerData && { providerData: part.providerData }) };
  }
  return undefined;
}
