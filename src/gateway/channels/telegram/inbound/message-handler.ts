import type { Update } from '@grammyjs/types';
import { GatewayError } from '../../../../../protocol/errors.ts';
import type { Clock } from '../../../../clock.ts';
import type { Bounds } from '../../../auth/lineage.ts';
import type { Runs } from '../../../runs/runs.ts';
import type { InboxTable, SenderTable } from '../../../store/schema/channels/channel-schema.ts';
import type { Store } from '../../../store/store.ts';
import { NoRoom } from '../../../workstreams/closing.ts';
import type { Workstream } from '../../../workstreams/workstream.ts';
import { noteWritten, renameChats } from '../../inbox/chat-rows.ts';
import { dropUpdate, endUpdate, readAccount } from '../../inbox/inbox-rows.ts';
import { readSender } from '../../inbox/sender-rows.ts';
import type { TelegramSettings } from '../telegram-settings.ts';
import { actAs } from './acting-sender.ts';
import type { AllowedMessage } from './allowed-message.ts';
import type { ChatCommands } from './chat-commands.ts';
import { type IncomingMessage, migrationIn, toIncoming } from './incoming.ts';
import { messageText } from './message-text.ts';
import type { Replies } from './replies.ts';
import { decideSender } from './sender-policy.ts';

export interface MessageHandlerDeps {
  settings(): TelegramSettings | undefined;
  store: Pick<Store, 'db' | 'commit'>;
  users: { boundsOf(userId: string): Bounds | undefined };
  runs: Pick<Runs, 'accept'>;
  sessionOf(
    message: IncomingMessage,
    as: { userId: string; session: TelegramSettings['session'] },
  ): Promise<Workstream>;
  commands: ChatCommands;
  replies: Replies;
  offerPairing(asking: { row: InboxTable; message: IncomingMessage; known: SenderTable | undefined }): Promise<void>;
  /** A run works on a message of this chat until `ended`. */
  onWork(chat: string, ended: Promise<unknown>): void;
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

  async handle(row: InboxTable, update: Update): Promise<void> {
    const { store, settings: read } = this.#deps;
    const migration = migrationIn(update);
    if (migration) {
      const statements = [...renameChats(row.channel, migration), dropUpdate(row)];
      return void (await store.commit({ statements }));
    }
    const account = await readAccount(store, row);
    const message = toIncoming(update, { id: Number(row.account), username: account?.username ?? '' });
    const settings = read();
    if (message === undefined || settings === undefined)
      return void (await store.commit({ statements: [dropUpdate(row)] }));
    await this.#decide(row, message, settings);
  }

  async #decide(row: InboxTable, message: IncomingMessage, settings: TelegramSettings): Promise<void> {
    const { store, users, replies, offerPairing, sessionOf } = this.#deps;
    const known = await readSender(store, { channel: row.channel, senderId: message.senderId });
    const verdict = decideSender(message, settings, known);
    switch (verdict.kind) {
      case 'ignored':
        return void (await store.commit({ statements: [dropUpdate(row)] }));
      case 'blocked':
        return replies.end(row, 'blocked', verdict.reason);
      case 'pairing':
        return offerPairing({ row, message, known });
      case 'allowed': {
        const by = actAs(message.senderId, { known, settings, users });
        if (by === undefined) return replies.end(row, 'blocked', 'the user of the sender may not log in');
        try {
          const userId = known?.user_id ?? '';
          const workstream = await sessionOf(message, { userId, session: settings.session });
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
    await this.#send(allowed);
  }

  /** Accepts the message and ends its update in one unit. */
  async #send({ row, message, by, workstream }: AllowedMessage): Promise<void> {
    const { runs, onWork, clock } = this.#deps;
    const { chat, foreign, senderId } = message;
    const { principal } = by;
    try {
      const handle = await runs.accept(workstream, {
        message: messageText(message),
        principal: principal.id,
        // Words of strangers in it have no more rights than those of anybody who may write.
        rights: foreign.length > 0 && by.rights === 'approve' ? 'write' : by.rights,
        ...(principal.userId !== undefined && { sender: principal.userId }),
        source: 'person',
        request: { deliver: { provider: row.channel, to: chat }, fromChat: true },
        also: (runId) => [
          endUpdate(row, { state: 'accepted', runId, nowMs: clock.now() }),
          noteWritten({ channel: row.channel, chat }, { senderId, nowMs: clock.now() }),
        ],
      });
      this.#toldBusy.delete(chat);
      onWork(chat, handle.ended);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'BUSY') throw error;
      await this.#tellBusy(row, chat, error.message);
    }
  }

  /** Once, until a message is accepted again: the chat is busy enough. */
  async #tellBusy(row: InboxTable, chat: string, reason: string): Promise<void> {
    const { replies } = this.#deps;
    if (this.#toldBusy.has(chat)) return replies.end(row, 'busy', reason);
    this.#toldBusy.add(chat);
    await replies.answer(row, `⚠ ${BUSY}`, { state: 'busy', reason });
  }
}

const BUSY = 'Too many messages wait here, so I did not take this one. Send it again later, or send /stop.';
