import type { Clock } from '../../../clock.ts';
import type { InboxState } from '../../store/schema/channels/channel-schema.ts';
import type { Statement, Store } from '../../store/store.ts';
import { insertDelivery } from '../delivery-rows.ts';
import { endUpdate, type InboxRow } from '../inbox/inbox-rows.ts';

interface RepliesDeps {
  store: Pick<Store, 'commit'>;
  /** The outbox has a message. */
  wake(): void;
  clock: Pick<Clock, 'now'>;
}

interface End {
  state: Exclude<InboxState, 'waiting'>;
  reason?: string;
}

/** Ends updates with words to their chats. */
export function createReplies({ store, wake, clock }: RepliesDeps) {
  const answering = (row: InboxRow, text: string, end: End = { state: 'answered' }): Statement[] => {
    const nowMs = clock.now();
    return [endUpdate(row, { ...end, nowMs }), toChat(row, text, nowMs)];
  };
  return {
    /** The statements of `answer`, for a unit with the effect of the update. `wake` follows its commit. */
    answering,
    /** Ends an update and tells its chat something, in one unit. */
    async answer(row: InboxRow, text: string, end?: End) {
      await store.commit({ statements: answering(row, text, end) });
      wake();
    },
    async end(row: InboxRow, state: Exclude<InboxState, 'waiting'>, reason?: string) {
      await store.commit({ statements: [endUpdate(row, { state, reason, nowMs: clock.now() })] });
    },
    /** What the chat is told when an update ends in a unit of somebody else, who calls `wake` afterwards. */
    notice: (row: InboxRow, text: string): Statement => toChat(row, text, clock.now()),
    wake,
    /** Tells the chat of an update that has ended something. */
    async tell(row: InboxRow, text: string) {
      await store.commit({ statements: [toChat(row, text, clock.now())] });
      wake();
    },
  };
}
export type Replies = ReturnType<typeof createReplies>;

const toChat = ({ channel, account, update_id, chat }: InboxRow, message: string, nowMs: number): Statement =>
  insertDelivery({
    messageId: `reply:${channel}:${account}:${update_id}`,
    provider: channel,
    to: chat,
    message,
    from: 'headgate',
    acceptedMs: nowMs,
  });
