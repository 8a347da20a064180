import type { ChannelHook } from '../channel-hook.ts';
import { isUrgentText } from '../chats/chat-commands.ts';
import type { ChatMessage } from '../chats/chat-message.ts';
import { WHATSAPP } from '../chats/chat-service.ts';
import { type ChatDeps, type ChatParts, createChats } from '../chats/create-chats.ts';
import { endUpdate, type InboxRow } from '../inbox/inbox-rows.ts';
import { checkNumber } from './check-number.ts';
import { GraphError } from './graph-error.ts';
import { type Arrived, createHook } from './inbound/create-hook.ts';
import { openMedia } from './inbound/open-media.ts';
import { noteStatus } from './inbound/receipts.ts';
import { toChatMessage } from './inbound/to-chat-message.ts';
import { NumberState } from './number-state.ts';
import { createNumbers, type WhatsAppDeps } from './numbers.ts';
import type { WhatsAppMessage } from './webhook-batch.ts';
import { missingSecrets } from './whatsapp-settings.ts';

const { channel } = WHATSAPP;
const LIMITS = { signal: new AbortController().signal, timeoutMs: 20_000 };

/** People who write to Headgate at WhatsApp, which calls the daemon with their messages. */
export function createWhatsAppNoun(deps: ChatDeps, whatsapp: WhatsAppDeps, parts: ChatParts) {
  const { store, clock, log } = deps;
  const { settings } = whatsapp;
  const number = createNumbers(whatsapp, clock);
  const state = new NumberState({ settings, clock });
  const sendNow = async (to: string, text: string) => number()?.api.send(to, { type: 'text', text }, LIMITS);
  const onWork = (message: ChatMessage) => void showTyping(message);
  const stopping = new AbortController();
  const chats = createChats(
    { service: WHATSAPP, settings, sendNow, openFile: openMedia(number), stopping: stopping.signal, onWork },
    deps,
    parts,
  );
  const inbox = chats.inbox({
    handle: async (row) => {
      const arrived = toArrived(row);
      if ('status' in arrived) return noteStatus(row, arrived.status, store);
      if (arrived.message.pressed !== undefined) return press(row, arrived.message);
      return chats.handle(row, toChatMessage(arrived.message));
    },
    isUrgent: (row) => {
      const arrived = toArrived(row);
      return 'message' in arrived && isUrgentText(arrived.message.text);
    },
  });

  /** WhatsApp shows it for 25 seconds, with the mark that the message was read. */
  async function showTyping({ messageId }: ChatMessage): Promise<void> {
    try {
      await number()?.api.markRead(messageId, { ...LIMITS, isTyping: true });
      state.accepted();
    } catch (err) {
      if (err instanceof GraphError && err.kind === 'unauthorized') state.refused(err.message);
      log.debug({ err }, 'a message at WhatsApp could not be marked as read');
    }
  }

  /** Whoever decides is told by the decision itself. */
  async function press(row: InboxRow, { senderId, replyTo = '', pressed = '' }: WhatsAppMessage): Promise<void> {
    const button = { channel, senderId, chatId: senderId, chatKind: 'dm' as const, messageId: replyTo, data: pressed };
    const { state: end, hasDecided, words } = await chats.press(button);
    if (end === 'answered' && !hasDecided) return chats.replies.answer({ ...row, chat: senderId }, words);
    await store.commit({ statements: [endUpdate(row, { state: end, reason: words, nowMs: clock.now() })] });
  }

  return {
    report: () => state.report,
    backlog: () => inbox.backlog,
    check: (token: string | undefined, signal: AbortSignal) =>
      checkNumber({ token, signal }, { settings, fetch: whatsapp.fetch, clock }),
    drop: chats.drop,
    /** Undefined while WhatsApp is not set up. */
    hook(): ChannelHook | undefined {
      const current = settings();
      if (current === undefined || missingSecrets(current).length > 0) return undefined;
      const { phoneNumberId: account } = current;
      return createHook({ settings: current, store, onStored: () => inbox.look({ channel, account }), clock });
    },
    /** Handles what an earlier process has stored. */
    async run(): Promise<void> {
      const current = settings();
      if (current) await inbox.look({ channel, account: current.phoneNumberId });
    },
    async close() {
      stopping.abort(new Error('the daemon stops'));
      inbox.close();
    },
  };
}

/** As the hook stored it. */
const toArrived = ({ body_json: json }: InboxRow): Arrived => JSON.parse(json ?? '{"message":{}}');
