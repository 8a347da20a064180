import type { EventLog } from '../../events/event-log.ts';
import type { ChannelHook } from '../channel-hook.ts';
import { isUrgentText } from '../chats/chat-commands.ts';
import { TELEGRAM } from '../chats/chat-service.ts';
import { type ChatDeps, type ChatParts, createChats } from '../chats/create-chats.ts';
import { renameChats } from '../inbox/chat-rows.ts';
import { dropUpdate, readAccount } from '../inbox/inbox-rows.ts';
import { createBots, type TelegramDeps } from './bots.ts';
import { checkToken } from './check-token.ts';
import { createHookOfBot } from './inbound/create-hook-of-bot.ts';
import { migrationIn } from './inbound/incoming.ts';
import { TELEGRAM_PARTS, toUpdate, toWhole } from './inbound/message-parts.ts';
import { openFile } from './inbound/open-file.ts';
import { onPressed } from './inbound/pressed-button.ts';
import { PollState } from './poll-state.ts';
import { Poller } from './poller.ts';
import type { PreviewGate } from './preview/preview-gate.ts';
import { createSignsOfWork } from './preview/signs-of-work.ts';
import { addressOf, sendText } from './send-text.ts';

/** People who write to Headgate at Telegram. */
export function createTelegramNoun(
  deps: ChatDeps,
  telegram: TelegramDeps,
  parts: ChatParts & { previews: PreviewGate; events: Pick<EventLog, 'onAppended'> },
) {
  const { store, clock, ids, log } = deps;
  const bot = createBots(telegram, clock);
  const stopping = new AbortController();
  const signs = createSignsOfWork({ bot, gate: parts.previews, events: parts.events, store, clock, log });
  const sendNow = async (chat: string, text: string) => {
    const current = bot();
    if (current) await sendText({ formatted: text, plain: text }, current, addressOf(chat));
  };
  const chats = createChats(
    {
      service: TELEGRAM,
      settings: telegram.settings,
      sendNow,
      openFile: (file, { maxBytes, signal }) => openFile(file, { bot, maxBytes, signal }),
      stopping: stopping.signal,
      onWork: signs.begin,
    },
    deps,
    parts,
  );
  const { replies, press } = chats;
  const inbox = chats.inbox({
    async handle(row) {
      const update = toUpdate(row);
      if (update.callback_query) return onPressed(row, update.callback_query, { bot, press, replies, log });
      const migration = migrationIn(update);
      const account = await readAccount(store, row);
      const message = toWhole(row, { id: Number(row.account), username: account?.username ?? '' });
      if (message && !migration) return chats.handle(row, message);
      if (migration) log.info(migration, 'a group has another number now; its rules stay those of its first number');
      const renamed = migration ? renameChats(row.channel, migration) : [];
      await store.commit({ statements: [...renamed, dropUpdate(row)] });
    },
    parts: TELEGRAM_PARTS,
    isUrgent: (row) => isUrgentText(toUpdate(row).message?.text),
  });
  const onStored = (account: string) => inbox.look({ channel: TELEGRAM.channel, account });
  const state = new PollState(clock);
  const poller = new Poller({
    bot,
    isConfigured: () => telegram.settings() !== undefined,
    state,
    store,
    onStored,
    clock,
    ids,
    log,
  });
  return {
    report: () => state.report,
    backlog: () => inbox.backlog,
    check: (token: string | undefined, signal: AbortSignal) =>
      checkToken({ token, signal }, { settings: telegram.settings, fetch: telegram.fetch, clock }),
    drop: chats.drop,
    look: () => poller.look(),
    /** Undefined unless Telegram calls the daemon. */
    hook(): ChannelHook | undefined {
      const { called } = poller;
      return called && createHookOfBot({ called, store, onStored, clock, log });
    },
    run(signal: AbortSignal) {
      chats.resume(signs.goOn);
      return poller.run(signal);
    },
    async close() {
      stopping.abort(new Error('the daemon stops'));
      inbox.close();
      await signs.close();
    },
  };
}
