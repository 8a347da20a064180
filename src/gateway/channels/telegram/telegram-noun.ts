import type { Update } from '@grammyjs/types';
import type { Commands } from '../../commands/commands.ts';
import type { GatewayDeps } from '../../gateway-deps.ts';
import type { Approvals } from '../../runs/approvals.ts';
import type { Runs } from '../../runs/runs.ts';
import { DAEMON } from '../../sharing/perception.ts';
import type { InboxTable } from '../../store/schema/channels/channel-schema.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import type { DeliveryQueue } from '../delivery-queue.ts';
import { Inbox } from '../inbox/inbox.ts';
import { createBots } from './bots.ts';
import { checkToken } from './check-token.ts';
import { principalIdOf } from './inbound/acting-sender.ts';
import { pressButton } from './inbound/approval-buttons.ts';
import { createChatCommands, isUrgentText } from './inbound/chat-commands.ts';
import { obtainSession } from './inbound/chat-sessions.ts';
import { MessageHandler } from './inbound/message-handler.ts';
import { offerPairing } from './inbound/pairing.ts';
import { createReplies } from './inbound/replies.ts';
import { PollState } from './poll-state.ts';
import { Poller } from './poller.ts';
import { Typing } from './typing.ts';

type TelegramNounDeps = Pick<GatewayDeps, 'store' | 'telegram' | 'auth' | 'clock' | 'ids' | 'log'>;

interface TelegramParts {
  workstreams: Workstreams;
  runs: Pick<Runs, 'accept'>;
  commands: Pick<Commands, 'startAfresh' | 'clear'>;
  approvals: Pick<Approvals, 'resolve'>;
  deliveries: Pick<DeliveryQueue, 'wake'>;
}

/** People who write to Headgate at Telegram. */
export function createTelegramNoun(deps: TelegramNounDeps, parts: TelegramParts) {
  const { store, telegram, auth, clock, ids, log } = deps;
  const { workstreams, runs, commands, approvals, deliveries } = parts;
  const bot = createBots(telegram, clock);
  const { users, audit } = auth;
  const replies = createReplies({ store, wake: () => deliveries.wake(), clock });
  const typing = new Typing({ bot, clock });
  const messages = new MessageHandler({
    settings: telegram.settings,
    store,
    users,
    runs,
    sessionOf: (message, as) => obtainSession(message, as, { store, workstreams, clock }),
    commands: createChatCommands({ commands, replies }),
    replies,
    offerPairing: (asking) => offerPairing(asking, { bot, store, clock, ids, log }),
    onWork: (chat, ended) => typing.during(chat, ended),
    clock,
  });
  const handle = async (row: InboxTable) => {
    const update = toUpdate(row);
    const query = update.callback_query;
    if (query) return pressButton(row, query, { bot, store, users, approvals, audit, replies, log });
    return messages.handle(row, update);
  };
  const inbox = new Inbox({
    store,
    handle,
    isUrgent: (row) => isUrgentText(toUpdate(row).message?.text),
    onFailed: (row) => (row.chat === '' ? Promise.resolve() : replies.tell(row, LOST)),
    clock,
    log,
  });
  const state = new PollState(clock);
  const poller = new Poller({
    bot,
    isConfigured: () => telegram.settings() !== undefined,
    state,
    store,
    onStored: (account) => inbox.look({ channel: 'telegram', account }),
    clock,
    ids,
    log,
  });
  return {
    report: () => state.report,
    backlog: () => inbox.backlog,
    check: (token: string | undefined, signal: AbortSignal) =>
      checkToken({ token, signal }, { settings: telegram.settings, fetch: telegram.fetch, clock }),
    drop: (senderId: string) => dropMessagesOf(principalIdOf(senderId), workstreams),
    look: () => poller.look(),
    run(signal: AbortSignal) {
      for (const { current } of workstreams.list(DAEMON)) {
        const { deliver, fromChat } = current?.run.request ?? {};
        if (current && deliver?.provider === 'telegram' && fromChat) typing.during(deliver.to, current.ended);
      }
      return poller.run(signal);
    },
    async close() {
      typing.close();
      inbox.close();
    },
  };
}

/** Cancels the messages of a person that wait; the run in progress goes on. */
async function dropMessagesOf(principal: string, workstreams: Pick<Workstreams, 'list'>): Promise<void> {
  for (const workstream of workstreams.list(DAEMON)) {
    const waiting = workstream.queue.all().filter(({ run }) => run.principal === principal);
    for (const { run } of waiting) await workstream.cancelRun(run.runId);
  }
}

const LOST = '⚠ I could not take this message. Its operator finds the reason in the log.';

/** As Telegram sent it, and the poller stored it. */
const toUpdate = ({ body_json: json }: InboxTable): Update => JSON.parse(json ?? '{}');
