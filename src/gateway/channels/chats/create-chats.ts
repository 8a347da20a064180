import type { Clock } from '../../../clock.ts';
import type { Attachments } from '../../attachments/attachments.ts';
import type { Commands } from '../../commands/commands.ts';
import type { GatewayDeps } from '../../gateway-deps.ts';
import type { ChannelMetrics } from '../../metrics/channel-metrics.ts';
import type { Approvals } from '../../runs/approvals.ts';
import type { Runs } from '../../runs/runs.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import type { DeliveryQueue } from '../delivery-queue.ts';
import { Inbox, type InboxDeps } from '../inbox/inbox.ts';
import type { InboxRow } from '../inbox/inbox-rows.ts';
import { createChatCommands } from './chat-commands.ts';
import type { ChatMessage } from './chat-message.ts';
import { type ChatRun, openRunsOf } from './chat-run.ts';
import type { ChatService } from './chat-service.ts';
import { obtainSession } from './chat-sessions.ts';
import type { ChatSettings } from './chat-settings.ts';
import { dropMessagesOf } from './drop-messages.ts';
import { MessageHandler } from './message-handler.ts';
import { offerPairing } from './pairing.ts';
import { type PressedButton, pressButton } from './press-button.ts';
import { type FileDeps, receiveFiles } from './receive-files.ts';
import { createReplies } from './replies.ts';

export type ChatDeps = Pick<GatewayDeps, 'store' | 'auth' | 'hear' | 'ids' | 'log'> & { clock: Clock };

/** What messages of people cause. */
export interface ChatParts {
  workstreams: Workstreams;
  runs: Pick<Runs, 'accept'>;
  commands: Pick<Commands, 'startAfresh' | 'clear' | 'answer'>;
  approvals: Pick<Approvals, 'resolve'>;
  deliveries: Pick<DeliveryQueue, 'wake'>;
  metrics: Pick<ChannelMetrics, 'channelUpdate'>;
  attachments: Pick<Attachments, 'staged'>;
  /** Somebody may have begun to wait for approval. */
  push: { look(): void };
}

/** How a chat service differs from the others. */
export interface ChatServiceParts {
  service: ChatService;
  settings(): ChatSettings | undefined;
  /** Sends a text at once, without a record of it. */
  sendNow(chat: string, text: string): Promise<unknown>;
  openFile: FileDeps['openFile'];
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
  /** A run works on this message until `ended`. */
  onWork(message: ChatMessage, work: ChatRun): void;
}

/** The people of a chat service: their messages, the buttons that they press, and what they are told. */
export function createChats(
  { service, settings, sendNow, openFile, stopping, onWork }: ChatServiceParts,
  deps: ChatDeps,
  parts: ChatParts,
) {
  const { store, auth, hear, clock, ids, log } = deps;
  const { workstreams, runs, commands, approvals, deliveries, metrics, attachments, push } = parts;
  const { users, audit } = auth;
  const { channel } = service;
  const replies = createReplies({ store, wake: () => deliveries.wake(), clock });
  const messages = new MessageHandler({
    settings,
    store,
    users,
    runs,
    sessionOf: (message, as) => obtainSession(message, as, { service, store, workstreams, clock }),
    commands: createChatCommands({ store, commands, replies, clock }),
    replies,
    receive: (message, owner) => receiveFiles(message, owner, { openFile, attachments, hear, stopping }),
    offerPairing: (asking) => offerPairing(asking, { sendNow, onAsked: () => push.look(), store, clock, ids, log }),
    onWork,
    clock,
  });
  return {
    replies,
    handle: (row: InboxRow, message: ChatMessage) => messages.handle(row, message),
    press: (button: PressedButton) => pressButton(button, { settings, store, users, approvals, audit }),
    /** Drops the messages of a person that wait. */
    drop: (senderId: string) => dropMessagesOf({ channel, senderId }, workstreams),
    /** `handle` ends the stored updates of the service, one at a time for each chat. */
    inbox: ({ handle, isUrgent, parts: rule }: Pick<InboxDeps, 'handle' | 'isUrgent' | 'parts'>) =>
      new Inbox({
        store,
        handle,
        isUrgent,
        onEnded: (outcome) => metrics.channelUpdate(channel, outcome),
        parts: rule,
        onFailed: (row) => (row.chat === '' ? Promise.resolve() : replies.tell(row, LOST)),
        clock,
        log,
      }),
    /** Names the runs that messages of this service started and that go on, or still wait, after a restart. */
    resume(onResumed: (chat: string, work: ChatRun) => void): void {
      for (const { chat, work } of openRunsOf(channel, workstreams)) onResumed(chat, work);
    },
  };
}

const LOST = '⚠ I could not take this message. Its operator finds the reason in the log.';
