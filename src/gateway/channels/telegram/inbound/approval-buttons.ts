import type { CallbackQuery } from '@grammyjs/types';
import { GatewayError } from '../../../../../protocol/errors.ts';
import type { Log } from '../../../../log.ts';
import type { CallAudit } from '../../../audit/call-audit.ts';
import type { Bounds } from '../../../auth/lineage.ts';
import type { Principal } from '../../../auth/principal.ts';
import type { Approvals } from '../../../runs/approvals.ts';
import { DAEMON } from '../../../sharing/perception.ts';
import type { InboxTable } from '../../../store/schema/channels/channel-schema.ts';
import type { Store } from '../../../store/store.ts';
import { readSender } from '../../inbox/sender-rows.ts';
import { readChunks } from '../../ledger/chunk-rows.ts';
import { messageOfQuestion } from '../../question-text.ts';
import type { Bot } from '../bots.ts';
import { pressedIn } from '../cards/approval-card.ts';
import { actAs } from './acting-sender.ts';
import type { Replies } from './replies.ts';
import { decideSender } from './sender-policy.ts';

interface ButtonDeps {
  bot(): Bot | undefined;
  store: Pick<Store, 'db' | 'commit'>;
  users: { boundsOf(userId: string): Bounds | undefined };
  approvals: Pick<Approvals, 'resolve'>;
  audit: CallAudit;
  replies: Pick<Replies, 'end'>;
  log: Log;
}

const AUDIT = { action: 'approval.resolve', id: 'approvalId', by: 'handler' } as const;
const NEVER = new AbortController().signal;

/** Handles a pressed button: only approvers decide, and only about the question of the very message that they pressed. */
export async function pressButton(row: InboxTable, query: CallbackQuery, deps: ButtonDeps): Promise<void> {
  const { state, words } = await decide(query, deps);
  await tell(query.id, words, deps);
  await deps.replies.end(row, state, words);
}

interface Pressed {
  state: 'answered' | 'blocked';
  /** For the person who pressed. */
  words: string;
}

async function decide(query: CallbackQuery, deps: ButtonDeps): Promise<Pressed> {
  const pressed = pressedIn(query.data);
  const bot = deps.bot();
  if (!pressed || !bot || !(await isOurs(query, pressed.approvalId, deps)))
    return { state: 'blocked', words: 'This button means nothing any more.' };
  const senderId = String(query.from.id);
  const known = await readSender(deps.store, { channel: 'telegram', senderId });
  const chat = query.message?.chat;
  const asked = {
    chatKind: chat?.type === 'private' ? ('dm' as const) : ('group' as const),
    chatId: String(chat?.id),
    senderId,
    isForBot: true,
  };
  const isAllowed = decideSender(asked, bot.settings, known).kind === 'allowed';
  const by = isAllowed ? actAs(senderId, { known, settings: bot.settings, users: deps.users }) : undefined;
  if (!by?.mayApprove) return { state: 'blocked', words: 'You may not decide this.' };
  return resolve(pressed, by.principal, deps);
}

/** Whether the message is the one that asks this question. Its id is part of no text that a person writes. */
async function isOurs({ message }: CallbackQuery, approvalId: string, { store }: ButtonDeps): Promise<boolean> {
  if (!message) return false;
  const chunks = await readChunks(store, messageOfQuestion(approvalId));
  return chunks.some(
    ({ provider_id: id, destination }) =>
      id === String(message.message_id) && destination.split(':')[0] === String(message.chat.id),
  );
}

async function resolve(
  { approvalId, approved }: { approvalId: string; approved: boolean },
  principal: Principal,
  { approvals, audit }: ButtonDeps,
): Promise<Pressed> {
  const input = { approvalId, approved };
  const caller = { principal, signal: NEVER, address: '', interim: () => undefined, subscriptions: undefined };
  const record = audit.begin(AUDIT, { input, caller });
  const by = { kind: 'principal' as const, id: principal.id };
  try {
    await approvals.resolve(
      approvalId,
      { approved, feedback: '', always: false, by },
      {
        viewer: DAEMON,
        also: (wsId) => record.audited({ id: approvalId, wsId, approved, always: false }),
      },
    );
    return { state: 'answered', words: approved ? 'Approved' : 'Denied' };
  } catch (error) {
    if (!(error instanceof GatewayError) || (error.code !== 'CONFLICT' && error.code !== 'NOT_FOUND')) throw error;
    return { state: 'answered', words: 'This was decided already.' };
  }
}

/** Always, because the button shows a clock until then. */
async function tell(queryId: string, text: string, { bot, log }: ButtonDeps): Promise<void> {
  const limits = { signal: NEVER, timeoutMs: 10_000 };
  await bot()
    ?.api.call('answerCallbackQuery', { callback_query_id: queryId, text }, limits)
    .catch((err: unknown) => log.warn({ err }, 'a pressed button could not be answered'));
}
