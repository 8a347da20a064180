import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Message, ToolMessage, UserMessage } from '../../agent/message.ts';
import type { NumberedMessage } from '../../agent/run/window/run-window.ts';
import { shortenOutput } from '../../agent/shortened-output.ts';
import { withoutSignature, withoutSignatures } from '../../agent/unbound-answer.ts';
import { type Cut, type Part, type Range, type Rewritten, toParts, toRewritten, type View } from '../cuts/cut.ts';
import { readCuts } from '../cuts/cut-rows.ts';
import { isLaterInRun, withFeedbackMarked } from '../cuts/unmarked-feedback.ts';
import type { MessageRange, Store, StoredRow } from '../store/store.ts';
import { damaged } from '../store/store-fault.ts';
import { createPartPages, PAGE, type Stored } from './part-pages.ts';

/** A stored message with its position. */
export interface StoredMessage {
  seq: number;
  createdMs: number;
  message: Message;
  /** The run that it belongs to; absent if it was copied, or does not belong to one. */
  runId?: string;
  /** `message` is a placeholder, because the stored one is damaged. */
  isDamaged?: true;
}

/** The place of a context in its workstream. */
export interface ContextPlace {
  wsId: string;
  contextAfterSeq: number;
  messageCount: number;
}

/** Reads the messages of a workstream that count now; without those that were taken back or removed. */
export interface Messages {
  /**
   * The newest of a range, oldest first, for people: the messages behind compactions, and placeholders for damaged
   * ones.
   */
  page(wsId: string, range: MessageRange): Promise<StoredMessage[]>;
  /**
   * Everything that `page` returns without a limit, in pages from the newest to the oldest; each page is oldest first.
   * Other work runs between them.
   */
  backwards(wsId: string, range: Range): AsyncGenerator<StoredMessage[]>;
  /** The number of the first message of a range; undefined when there is none. */
  firstSeq(wsId: string, range: Range): Promise<number | undefined>;
  /**
   * Everything that the model reads, oldest first, without failed messages; `pending`: as it will be after that cut.
   * Rejects if a part of it is damaged.
   */
  context(of: ContextPlace, pending?: Cut): Promise<Message[]>;
  /** The same, with the numbers of the messages. */
  numbered(of: ContextPlace, pending?: Cut): Promise<NumberedMessage[]>;
  /** The parts of a range, for a copy, as people see them. Rejects if one of its messages is damaged. */
  intactParts(wsId: string, range: Range): Promise<Part[]>;
  /** All messages of these parts, oldest first, in pages. Damaged messages are replaced by placeholders. */
  read(wsId: string, parts: readonly Part[], pageSize: number): AsyncGenerator<StoredMessage[]>;
  /** Like `intactParts`, with the number of their characters as they are stored. */
  measureIntact(wsId: string, range: Range): Promise<{ parts: Part[]; chars: number }>;
}

export function createMessages(store: Store): Messages {
  const pages = createPartPages(store);

  const intactCuts = async (wsId: string): Promise<Cut[]> => {
    const { cuts, damage } = await readCuts(store, wsId);
    if (damage) throw damaged(damage);
    return cuts;
  };

  const numbered: Messages['numbered'] = async ({ wsId, contextAfterSeq: after, messageCount: upTo }, pending) => {
    const stored = await intactCuts(wsId);
    const cuts = pending ? [...stored, pending] : stored;
    const rewritten = toRewritten(cuts);
    const read: Omit<StoredMessage, 'createdMs'>[][] = [];
    for await (const page of pages.backwards(wsId, toParts(cuts, { after, upTo })))
      read.push(
        page.map((one) => ({ seq: one.seq, ...runOf(one), message: rewrite(toIntact(one), one.seq, rewritten) })),
      );
    return read
      .reverse()
      .flat()
      .map((one, index, all) => ({
        seq: one.seq,
        message: isLaterInRun(one, all[index - 1]) ? withFeedback(one.message) : one.message,
      }))
      .filter(({ message }) => message.role !== 'user' || !message.failed);
  };

  const measureIntact: Messages['measureIntact'] = async (wsId, range) => {
    const parts = toParts(await intactCuts(wsId), range, PEOPLE);
    let chars = 0;
    for (const part of parts) if (part.kind === 'stored') chars += await requireIntact(store, wsId, part);
    return { parts, chars };
  };

  return {
    async page(wsId, { limit, ...range }) {
      const { cuts } = await readCuts(store, wsId);
      return (await pages.newest(wsId, toParts(cuts, range, PEOPLE), limit)).map(toStoredMessage);
    },
    async *backwards(wsId, range) {
      const { cuts } = await readCuts(store, wsId);
      const parts = toParts(cuts, range, PEOPLE);
      for await (const page of pages.backwards(wsId, parts))
        yield await withFeedbackMarked(store, wsId, page.map(toStoredMessage));
    },
    async firstSeq(wsId, range) {
      const { cuts } = await readCuts(store, wsId);
      const [first] = toParts(cuts, range, PEOPLE);
      return first && (first.kind === 'stored' ? first.after + 1 : first.seq);
    },
    numbered,
    async context(of, pending) {
      return (await numbered(of, pending)).map(({ message }) => message);
    },
    measureIntact,
    intactParts: async (wsId, range) => (await measureIntact(wsId, range)).parts,
    async *read(wsId, parts, pageSize) {
      for await (const page of pages.forwards(wsId, parts, pageSize)) yield page.map(toStoredMessage);
    },
  };
}

/** People read the originals, not the summaries for models. */
const PEOPLE: View = 'original';

/** The message as models read it since the latest cuts. */
function rewrite(message: Message, seq: number, cuts: Rewritten): Message {
  const { prunedTo, unboundTo } = cuts;
  if (message.role === 'user') {
    const seen = withUnseen(message, seq, cuts);
    return seen.summary?.signed && seq <= unboundTo ? withoutSignature(seen) : seen;
  }
  const seen = message.role === 'tool' ? withUnseen(message, seq, cuts) : message;
  const pruned = seq <= prunedTo ? shortenOutput(seen) : seen;
  return pruned.role === 'assistant' && seq <= unboundTo ? withoutSignatures(pruned) : pruned;
}

function withUnseen<M extends UserMessage | ToolMessage>(message: M, seq: number, cuts: Rewritten): M {
  const unseen = message.attachments && unseenAt(seq, cuts);
  return unseen ? { ...message, unseen } : message;
}

function unseenAt(seq: number, { unseenTo, imagesUnseenTo }: Rewritten): UserMessage['unseen'] {
  if (seq <= unseenTo) return 'all';
  return seq <= imagesUnseenTo ? 'images' : undefined;
}

/** The characters of a range. Rejects if one of its messages is damaged. */
async function requireIntact(store: Store, wsId: string, { after, upTo }: Range): Promise<number> {
  let chars = 0;
  for (let end = upTo; end > after; end -= PAGE) {
    if (end < upTo) await nextTurn();
    for (const row of await store.readMessages(wsId, { after, upTo: end, limit: PAGE }))
      chars += requireText(row).length;
  }
  return chars;
}

function toStoredMessage(stored: Stored): StoredMessage {
  const { seq, createdMs } = stored;
  if ('message' in stored) return { seq, createdMs, message: stored.message };
  const run = runOf(stored);
  if (stored.json === undefined) return { seq, createdMs, ...run, message: UNREADABLE, isDamaged: true };
  return { seq, createdMs, ...run, message: JSON.parse(stored.json) };
}

const runOf = (stored: Stored): { runId?: string } =>
  'message' in stored || stored.runId === null ? {} : { runId: stored.runId };

const withFeedback = (message: Message): Message =>
  message.role === 'user' ? { ...message, feedback: true } : message;

const toIntact = (stored: Stored): Message => ('message' in stored ? stored.message : JSON.parse(requireText(stored)));

function requireText({ seq, json }: StoredRow): string {
  if (json === undefined) throw damaged(new Error(`message ${seq} is damaged`));
  return json;
}

const UNREADABLE: Message = {
  role: 'assistant',
  content: '[This message is damaged in the database and cannot be shown.]',
  toolCalls: [],
};
