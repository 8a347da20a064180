import type { Store } from '../../store/store.ts';
import type { Delivery } from '../channel.ts';
import { readChunks } from '../ledger/chunk-rows.ts';
import { messageOfQuestion, questionAskedBy, questionDecidedBy } from '../question-text.ts';

/** A message about a question: it asks with buttons, or tells how the question was decided. */
export type Card =
  | { kind: 'question'; text: string; buttons: readonly Button[] }
  /** `text`: the question with its decision; `messageId`: the message that asked. */
  | { kind: 'decision'; text: string; messageId: string };

export interface Button {
  title: string;
  /** What the service sends when it is pressed: at most 64 bytes, and no text that a person would write. */
  data: string;
}

/** The card of a delivery; undefined: an ordinary message; `none`: there is nothing to say. */
export async function readCard(delivery: Delivery, store: Pick<Store, 'db'>): Promise<Card | 'none' | undefined> {
  const asked = questionAskedBy(delivery.messageId);
  if (asked !== undefined)
    return { kind: 'question', text: delivery.message, buttons: await readButtons(asked, store) };
  const decided = questionDecidedBy(delivery.messageId);
  return decided === undefined ? undefined : readDecision(decided, delivery, store);
}

/** Questions that need words or numbers for an answer have no buttons, nor those that were decided meanwhile. */
async function readButtons(approvalId: string, { db }: Pick<Store, 'db'>): Promise<Button[]> {
  const stored = await db
    .selectFrom('approvals')
    .select(['status', 'kind', 'items_json'])
    .where('approval_id', '=', approvalId)
    .executeTakeFirst();
  if (stored?.status !== 'pending' || stored.kind === 'budget' || hasQuestion(stored.items_json)) return [];
  return [
    { title: '✅ Approve', data: `approve ${approvalId}` },
    { title: '🚫 Deny', data: `deny ${approvalId}` },
  ];
}

function hasQuestion(itemsJson: string): boolean {
  try {
    const items: unknown = JSON.parse(itemsJson);
    return !Array.isArray(items) || items.some((item) => item?.question !== undefined);
  } catch {
    return true; // damaged: it is decided elsewhere
  }
}

/** The decision below the text of its question. */
async function readDecision(
  approvalId: string,
  { message }: Delivery,
  store: Pick<Store, 'db'>,
): Promise<Card | 'none'> {
  const asked = messageOfQuestion(approvalId);
  const shown = (await readChunks(store, asked)).findLast(({ state }) => state === 'accepted')?.provider_id;
  const question = await store.db
    .selectFrom('outbox')
    .select('message')
    .where('message_id', '=', asked)
    .executeTakeFirst();
  if (shown == null || question === undefined) return 'none';
  return { kind: 'decision', text: `${question.message}\n\n${message}`, messageId: shown };
}

const PRESSED = /^(approve|deny) ([A-Za-z0-9_-]{1,50})$/;

/** The meaning of a pressed button; undefined for data that no card of ours has. */
export function pressedIn(data: string | undefined): { approvalId: string; approved: boolean } | undefined {
  const [, action, approvalId] = PRESSED.exec(data ?? '') ?? [];
  return approvalId === undefined ? undefined : { approvalId, approved: action === 'approve' };
}
