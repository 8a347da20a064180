import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Clock } from '../../../clock.ts';
import type { ChannelMetrics } from '../../metrics/channel-metrics.ts';
import type { ChatTable, ChunkTable } from '../../store/schema/channels/channel-schema.ts';
import type { Statement, Store } from '../../store/store.ts';
import { ServiceError } from '../calls/service-error.ts';
import { type Delivered, type Delivery, DeliveryError, NotNow } from '../channel.ts';
import type { AmbiguousPolicy } from '../chats/chat-settings.ts';
import { readGivenUp } from '../delivery-rows.ts';
import { noteSent, readChat, renameChats } from '../inbox/chat-rows.ts';
import { type ChunkNews, insertChunks, isEnded, type RenderedChunk, readChunks, updateChunk } from './chunk-rows.ts';

interface SendDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  metrics: Pick<ChannelMetrics, 'channelPart'>;
}

/** Sends one part; resolves with the id that the service gave it. Throws ServiceError. */
export type SendChunk = (chunk: RenderedChunk, place: { isLast: boolean }) => Promise<string>;

/** A message that is there already. */
export interface Replaced {
  /** Turns it into the part; resolves with its id. A repetition changes nothing. Throws ServiceError. */
  edit(chunk: RenderedChunk): Promise<string>;
  /** It has become the part, or is left as it is. */
  forget(): Statement;
}

interface Message {
  channel: string;
  delivery: Pick<Delivery, 'messageId' | 'to'>;
  ambiguous: AmbiguousPolicy;
  /** Called once; its parts are stored before the first is sent. */
  render(): RenderedChunk[];
  /** Whether a part may tell the chat that something did not arrive: all parts are sent in the same way. */
  mayTell: boolean;
  send: SendChunk;
  /** What the first part takes the place of; undefined: it is a message of its own. */
  replaces?: Replaced | undefined;
  /** Aborts when the daemon stops: no further part begins, of which nobody would know whether it arrived. */
  signal: AbortSignal;
  /** The new id of the chat, if the error says that it has another one now. */
  movedTo?(error: ServiceError): string | undefined;
}

/**
 * Sends a message in parts, each with its record, which is written before and after the request. Continues where an earlier
 * attempt ended. A part that fails for good does not keep the others from being sent. If the message is given up meanwhile,
 * because its person was revoked, no further part is sent. Throws DeliveryError or NotNow.
 */
export async function sendParts(message: Message, deps: SendDeps): Promise<Delivered> {
  const chunks = await openChunks(message, deps);
  const last = chunks.at(-1)?.chunk;
  const { to } = message.delivery;
  let givenUp: string | undefined;
  for (const chunk of chunks.filter((one) => !isEnded(one))) {
    message.signal.throwIfAborted();
    givenUp ??= await readGivenUp(deps.store, message.delivery.messageId);
    if (givenUp !== undefined) await leave(chunk, givenUp, deps);
    else await sendChunk({ ...chunk, destination: to }, { ...message, isLast: chunk.chunk === last }, deps);
  }
  if (givenUp !== undefined) return 'recorded';
  const bad = (await readChunks(deps.store, message.delivery.messageId)).find(({ state }) => state !== 'accepted');
  if (bad) throw new DeliveryError(problemOf(bad, chunks.length), { retryable: false });
  return 'taken';
}

/** Ends a part that is not sent any more. */
function leave(chunk: ChunkTable, why: string, deps: SendDeps): Promise<void> {
  const record = recorder(chunk, deps);
  return chunk.state === 'sending' ? record.ambiguous(STOPPED) : record.failed(why);
}

/** The daemon died between a request and its answer. */
const STOPPED = 'the daemon was stopped';

const problemOf = ({ chunk, state, reason }: ChunkTable, count: number): string => {
  const part = count === 1 ? 'the message' : `part ${chunk + 1} of ${count}`;
  return state === 'ambiguous' ? `${part} may not have arrived: ${reason}` : `${part} was not sent: ${reason}`;
};

const MISSING_TEXT = '⚠ Something that I sent you earlier may not have arrived. Ask me for it if you miss it.';
const MISSING: RenderedChunk = { formatted: MISSING_TEXT, plain: MISSING_TEXT };

/** The stored parts, or those of a message that is sent for the first time. */
async function openChunks(
  { channel, delivery, render, mayTell }: Message,
  { store, clock }: SendDeps,
): Promise<ChunkTable[]> {
  const stored = await readChunks(store, delivery.messageId);
  if (stored.length > 0) return stored;
  const chat = await readChat(store, { channel, chat: delivery.to });
  const isOwed = mayTell && chat?.owes_notice === 1;
  const nowMs = clock.now();
  const chunks = [...(isOwed ? [MISSING] : []), ...rendered(render)];
  const told = isOwed ? [noteSent(chat, { owes: 0, nowMs })] : [];
  const { messageId, to } = delivery;
  await store.commit({ statements: [...insertChunks({ channel, messageId, to }, chunks, nowMs), ...told] });
  return readChunks(store, messageId);
}

/** A message that cannot be rendered now cannot be later: trying it again would only delay those behind it. */
function rendered(render: Message['render']): RenderedChunk[] {
  try {
    return render();
  } catch (cause) {
    if (cause instanceof DeliveryError || cause instanceof NotNow || cause instanceof ServiceError) throw cause;
    throw new DeliveryError(`the message cannot be shown: ${wordsOf(cause)}`, { retryable: false, cause });
  }
}

async function sendChunk(chunk: ChunkTable, message: Message & { isLast: boolean }, deps: SendDeps): Promise<void> {
  const record = recorder(chunk, deps);
  const replaced = chunk.chunk === 0 ? message.replaces : undefined;
  if (replaced) return replace(chunk, { message, replaced, deps });
  if (chunk.state === 'sending' && message.ambiguous === 'once') return record.ambiguous(STOPPED);
  await record.sending();
  let providerId: string;
  try {
    providerId = await message.send(toPart(chunk), message);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return onFailure(error, { message, record, deps });
  }
  await record.accepted(providerId);
}

const toPart = ({ formatted, plain, media_url: mediaUrl }: ChunkTable): RenderedChunk => ({
  formatted: formatted ?? '',
  plain: plain ?? '',
  ...(mediaUrl !== null && { mediaUrl }),
});

/** Edits a message into the part. If nobody knows whether that was done, it is done again. */
async function replace(
  chunk: ChunkTable,
  { message, replaced, deps }: { message: Message & { isLast: boolean }; replaced: Replaced; deps: SendDeps },
): Promise<void> {
  const record = recorder(chunk, deps);
  await record.sending();
  let providerId: string;
  try {
    providerId = await replaced.edit(toPart(chunk));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isGone = error.kind === 'rejected' && message.movedTo?.(error) === undefined;
    if (!isGone) return onFailure(error, { message: { ...message, ambiguous: 'retry' }, record, deps });
    // It was deleted, or is too old: the part is a message of its own.
    await record.unsent(replaced.forget());
    return sendChunk({ ...chunk, state: 'unsent' }, { ...message, replaces: undefined }, deps);
  }
  await record.accepted(providerId, replaced.forget());
}

interface WriteOptions {
  durable?: boolean;
  owes?: 1;
  also?: Statement | undefined;
}

type Recorder = ReturnType<typeof recorder>;

function recorder(chunk: ChunkTable, { store, clock, metrics }: SendDeps) {
  const write = async (news: ChunkNews, { durable = false, owes, also }: WriteOptions = {}) => {
    const nowMs = clock.now();
    const chat: Pick<ChatTable, 'channel' | 'chat'> = { channel: chunk.channel, chat: chunk.destination };
    const isSent = news.state === 'accepted' || owes === 1;
    const noted: Statement[] = isSent ? [noteSent(chat, { nowMs, ...(owes && { owes }) })] : [];
    const statements = [updateChunk(chunk, news, nowMs), ...noted, ...(also ? [also] : [])];
    await store.commit({ statements, durable });
    if (isEnded(news)) metrics.channelPart(chunk.channel, news.state);
  };
  return {
    sending: () => write({ state: 'sending', to: chunk.destination }, { durable: true }),
    unsent: (also?: Statement) => write({ state: 'unsent' }, { also }),
    accepted: (providerId: string, also?: Statement) => write({ state: 'accepted', providerId }, { also }),
    failed: (reason: string) => write({ state: 'failed', reason }),
    ambiguous: (reason: string) => write({ state: 'ambiguous', reason }, { owes: 1 }),
  };
}

interface Failed {
  message: Message;
  record: Recorder;
  deps: SendDeps;
}

async function onFailure(error: ServiceError, { message: sent, record, deps }: Failed): Promise<void> {
  const { kind, message, retryAfterMs = 1_000 } = error;
  if (kind === 'ambiguous') {
    if (sent.ambiguous === 'once') return record.ambiguous(message);
    await record.unsent();
    throw new DeliveryError(message, { retryable: true });
  }
  const to = sent.movedTo?.(error);
  if (to !== undefined) {
    await record.unsent();
    const [from = ''] = sent.delivery.to.split(':');
    await deps.store.commit({ statements: renameChats(sent.channel, { from, to }) });
    throw new NotNow('the chat has another id now', { againInMs: 1 });
  }
  if (kind === 'rejected' || kind === 'too-large') return record.failed(message);
  await record.unsent();
  if (kind === 'rate-limited') throw new NotNow(message, { againInMs: retryAfterMs });
  throw new DeliveryError(message, { retryable: true });
}
