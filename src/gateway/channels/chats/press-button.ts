import { GatewayError } from '../../../../protocol/errors.ts';
import type { CallAudit } from '../../audit/call-audit.ts';
import type { Bounds } from '../../auth/lineage.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Approvals } from '../../runs/approvals.ts';
import { DAEMON } from '../../sharing/perception.ts';
import type { Store } from '../../store/store.ts';
import { readChunks } from '../ledger/chunk-rows.ts';
import { messageOfQuestion } from '../question-text.ts';
import { actAs } from './acting-sender.ts';
import { pressedIn } from './approval-card.ts';
import type { ChatSettings } from './chat-settings.ts';
import { judgeSender } from './sender-policy.ts';

interface ButtonDeps {
  settings(): ChatSettings | undefined;
  store: Pick<Store, 'db'>;
  users: { boundsOf(userId: string): Bounds | undefined };
  approvals: Pick<Approvals, 'resolve'>;
  audit: CallAudit;
}

/** A button of a message that a person pressed. */
export interface PressedButton {
  channel: string;
  senderId: string;
  /** Without the topic. */
  chatId: string;
  chatKind: 'dm' | 'group';
  /** The message with the button. */
  messageId: string;
  data: string;
}

/** What came of it. */
export interface PressEnd {
  state: 'answered' | 'blocked';
  /** Whether the button decided the question. */
  hasDecided: boolean;
  /** For the person who pressed. */
  words: string;
}

const AUDIT = { action: 'approval.resolve', id: 'approvalId', by: 'handler' } as const;
const NEVER = new AbortController().signal;

/** Only approvers decide, and only about the question of the very message that they pressed. */
export async function pressButton(button: PressedButton, deps: ButtonDeps): Promise<PressEnd> {
  const { channel, senderId, chatId, chatKind } = button;
  const pressed = pressedIn(button.data);
  const settings = deps.settings();
  if (!pressed || !settings || !(await isOurs(button, pressed.approvalId, deps.store)))
    return { state: 'blocked', hasDecided: false, words: 'This button means nothing any more.' };
  const asked = { chatKind, chatId, senderId, isForBot: true };
  const { known, verdict } = await judgeSender(channel, asked, { settings, store: deps.store });
  const isAllowed = verdict.kind === 'allowed';
  const by = isAllowed ? actAs({ channel, senderId }, { known, settings, users: deps.users }) : undefined;
  if (!by?.mayApprove) return { state: 'blocked', hasDecided: false, words: 'You may not decide this.' };
  return resolve(pressed, by.principal, deps);
}

/**
 * Whether the message is the one that asks this question. Its id is part of no text that a person writes. If nobody knows
 * whether the question arrived, its message has no id here, and the button shows that it did.
 */
async function isOurs(
  { channel, messageId, chatId }: PressedButton,
  approvalId: string,
  store: Pick<Store, 'db'>,
): Promise<boolean> {
  const chunks = await readChunks(store, messageOfQuestion(approvalId));
  return chunks.some(
    ({ channel: service, destination, state, provider_id: id }) =>
      service === channel && destination.split(':')[0] === chatId && (state === 'ambiguous' || id === messageId),
  );
}

async function resolve(
  { approvalId, approved }: { approvalId: string; approved: boolean },
  principal: Principal,
  { approvals, audit }: ButtonDeps,
): Promise<PressEnd> {
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
    return { state: 'answered', hasDecided: true, words: approved ? 'Approved' : 'Denied' };
  } catch (error) {
    if (!(error instanceof GatewayError) || (error.code !== 'CONFLICT' && error.code !== 'NOT_FOUND')) throw error;
    return { state: 'answered', hasDecided: false, words: 'This was decided already.' };
  }
}
