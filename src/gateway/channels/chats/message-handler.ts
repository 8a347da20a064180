import { GatewayError } from '../../../../protocol/errors.ts';
import type { Clock } from '../../../clock.ts';
import type { Bounds } from '../../auth/lineage.ts';
import type { Runs } from '../../runs/runs.ts';
import { mayPerceive } from '../../sharing/perception.ts';
import type { SenderTable } from '../../store/schema/channels/channel-schema.ts';
import type { Store } from '../../store/store.ts';
import { NoRoom } from '../../workstreams/closing.ts';
import type { Workstream } from '../../workstreams/workstream.ts';
import { noteWritten } from '../inbox/chat-rows.ts';
import { dropUpdate, endUpdate, type InboxRow } from '../inbox/inbox-rows.ts';
import { type ActingSender, actAs } from './acting-sender.ts';
import type { AllowedMessage, ChatCommands } from './chat-commands.ts';
import type { ChatMessage } from './chat-message.ts';
import { type ChatRun, runOf } from './chat-run.ts';
import type { ChatSettings } from './chat-settings.ts';
import { messageText } from './message-text.ts';
import type { ReceivedFiles } from './receive-files.ts';
import type { Replies } from './replies.ts';
import { judgeSender } from './sender-policy.ts';

export interface MessageHandlerDeps {
  settings(): ChatSettings | undefined;
  store: Pick<Store, 'db' | 'commit'>;
  users: { boundsOf(userId: string): Bounds | undefined };
  runs: Pick<Runs, 'accept'>;
  sessionOf(message: ChatMessage, as: { userId: string; session: ChatSettings['session'] }): Promise<Workstream>;
  commands: ChatCommands;
  replies: Replies;
  /** Loads the files of a message. */
  receive(message: ChatMessage, owner: { wsId: string; principal: string }): Promise<ReceivedFiles>;
  offerPairing(asking: { row: InboxRow; message: ChatMessage; known: SenderTable | undefined }): Promise<void>;
  /** A run works on this message until `ended`. */
  onWork(message: ChatMessage, work: ChatRun): void;
  clock: Pick<Clock, 'now'>;
}

/** Handles messages: decides about their senders, then starts runs, or executes commands. */
export class MessageHandler {
  readonly #deps: MessageHandlerDeps;
  /** Chats that were told that too much waits, until a message is accepted again. */
  readonly #toldBusy = new Set<string>();

  constructor(deps: MessageHandlerDeps) {
    this.#deps = deps;
  }

  async handle(row: InboxRow, message: ChatMessage): Promise<void> {
    const { store, settings: read } = this.#deps;
    const settings = read();
    if (settings === undefined) return void (await store.commit({ statements: [dropUpdate(row)] }));
    await this.#decide(row, message, settings);
  }

  async #decide(row: InboxRow, message: ChatMessage, settings: ChatSettings): Promise<void> {
    const { store, users, replies, offerPairing, sessionOf } = this.#deps;
    const { known, verdict } = await judgeSender(row.channel, message, { settings, store });
    switch (verdict.kind) {
      case 'ignored':
        return void (await store.commit({ statements: [dropUpdate(row)] }));
      case 'blocked':
        return replies.end(row, 'blocked', verdict.reason);
      case 'pairing':
        return offerPairing({ row, message, known });
      case 'allowed': {
        const by = actAs({ channel: row.channel, senderId: message.senderId }, { known, settings, users });
        if (by === undefined) return replies.end(row, 'blocked', 'the user of the sender may not log in');
        try {
          const userId = known?.user_id ?? '';
          const workstream = await sessionOf(message, { userId, session: settings.session });
          if (isOfOther(workstream, message, by))
            return await replies.answer(row, `⚠ ${OF_OTHER}`, { state: 'blocked', reason: OF_OTHER });
          await this.#serve({ row, message, by, workstream });
        } catch (error) {
          if (!(error instanceof NoRoom)) throw error;
          await replies.answer(row, `⚠ ${error.message}`, { state: 'busy', reason: error.message });
        }
      }
    }
  }

  async #serve(allowed: AllowedMessage): Promise<void> {
    if (allowed.message.command && (await this.#deps.commands.run(allowed, allowed.message.command))) return;
    const { row, message, by, workstream } = allowed;
    if (saysNothing(message)) return void (await this.#deps.store.commit({ statements: [dropUpdate(row)] }));
    const owner = { wsId: workstream.data.wsId, principal: by.principal.id };
    const received = await this.#deps.receive(message, owner);
    if (!(await this.#isStillAllowed(allowed))) return this.handle(row, message);
    if (received.kind === 'received') await this.#send(allowed, received);
    else await this.#refuse(allowed, received.why);
  }

  /** Loading files takes a while, in which the sender may be revoked. */
  async #isStillAllowed({ row: { channel }, message }: AllowedMessage): Promise<boolean> {
    const { settings: read, store } = this.#deps;
    const settings = read();
    if (message.files.length === 0 || settings === undefined) return true;
    return (await judgeSender(channel, message, { settings, store })).verdict.kind === 'allowed';
  }

  /** Nothing of it enters the conversation. A group is not told about messages that were not for the bot. */
  async #refuse({ row, message }: AllowedMessage, why: string): Promise<void> {
    const { replies } = this.#deps;
    if (message.isForBot) await replies.answer(row, `⚠ ${why}`, { state: 'failed', reason: why });
    else await replies.end(row, 'failed', why);
  }

  /** Accepts the message with its files and ends its update, in one unit. */
  async #send(
    { row, message, by, workstream }: AllowedMessage,
    { claim, spoken, notes, warnings }: ReceivedFiles & { kind: 'received' },
  ): Promise<void> {
    const { runs, replies, onWork, clock } = this.#deps;
    const { chat, foreign, senderId } = message;
    const { principal } = by;
    const told = message.isForBot ? warnings : [];
    const isForeign =
      foreign.length > 0 ||
      message.files.some(({ kind, isOwnVoice }) => kind === 'speech' && !isOwnVoice) ||
      claim?.attachments.some(({ kind }) => kind === 'pdf' || kind === 'text');
    try {
      const handle = await runs.accept(workstream, {
        message: messageText(message, { spoken, notes }),
        claim,
        principal: principal.id,
        // Words of strangers in it have no more rights than those of anybody who may write.
        rights: isForeign && by.rights === 'approve' ? 'write' : by.rights,
        ...(principal.userId !== undefined && { sender: principal.userId }),
        source: 'person',
        request: { deliver: { provider: row.channel, to: chat }, fromChat: true },
        also: (runId) => [
          endUpdate(row, { state: 'accepted', runId, nowMs: clock.now() }),
          noteWritten({ channel: row.channel, chat }, { senderId, nowMs: clock.now() }),
          ...(told.length > 0 ? [replies.notice(row, told.map((text) => `⚠ ${text}`).join('\n'))] : []),
        ],
      });
      if (told.length > 0) replies.wake();
      this.#toldBusy.delete(chat);
      onWork(message, runOf(workstream, handle));
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'BUSY') throw error;
      await this.#tellBusy(row, chat, error.message);
    }
  }

  /** Once, until a message is accepted again: the chat is busy enough. */
  async #tellBusy(row: InboxRow, chat: string, reason: string): Promise<void> {
    const { replies } = this.#deps;
    if (this.#toldBusy.has(chat)) return replies.end(row, 'busy', reason);
    this.#toldBusy.add(chat);
    await replies.answer(row, `⚠ ${BUSY}`, { state: 'busy', reason });
  }
}

/** Whether the conversation of a direct chat was given to somebody else, who is private in it. Groups have many people. */
const isOfOther = ({ data }: Workstream, { chatKind }: ChatMessage, { principal }: ActingSender): boolean =>
  chatKind === 'dm' && data.ownerId !== (principal.userId ?? '') && !mayPerceive(principal, data);

const OF_OTHER =
  'The conversation of this chat belongs to somebody else now. The operator can give it back, or delete it.';

const BUSY = 'Too many messages wait here, so I did not take this one. Send it again later, or send /stop.';

/** Such as spaces alone. Many models refuse an empty message. */
const saysNothing = ({ text, files, foreign, unreadable }: ChatMessage): boolean =>
  text.trim() === '' && files.length === 0 && foreign.length === 0 && unreadable === undefined;
