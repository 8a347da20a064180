import { effect, type Signal, signal } from '@preact/signals';
import type { Subscription } from '../../../protocol/client/subscriptions.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { WorkstreamRow } from '../../../protocol/methods/workstream.ts';
import type { Attachment, StreamEvent, WorkstreamState } from '../../../protocol/stream-events.ts';
import { type Conversation, foldEvent, toConversation } from './conversation/conversation.ts';
import type { Drafts } from './drafts.ts';

/** A file of the message that is being written. */
export interface Chip {
  key: string;
  name: string;
  /** Undefined while it is on its way to the daemon. */
  attachment: Attachment | undefined;
}

/** One loaded workstream, followed from the moment its tab exists. */
export interface Tab {
  readonly wsId: string;
  readonly row: Signal<WorkstreamRow>;
  /** Undefined until the first snapshot. */
  readonly conversation: Signal<Conversation | undefined>;
  /** Something was said while another tab was in front. */
  readonly unread: Signal<boolean>;
  readonly draft: Signal<string>;
  /** Files that go with the draft. */
  readonly chips: Signal<readonly Chip[]>;
  /** A message on its way to the daemon. */
  readonly sending: Signal<string | undefined>;
  /** Why the last thing a person asked for here did not happen. */
  readonly problem: Signal<string | undefined>;
  close(): void;
}

interface TabPort {
  client: Pick<GatewayClient, 'subscribe'>;
  /** Runs the callback soon, once per drawn frame. */
  schedule(run: () => void): void;
  isInFront(wsId: string): boolean;
  drafts: Pick<Drafts, 'find' | 'keep'>;
  /** Something happened that the list's row tells and no event: its title is another. */
  onRetitled(): void;
  /** The daemon does not know the workstream any more. */
  onGone(): void;
}

export function openTab(
  first: WorkstreamRow,
  { client, schedule, isInFront, drafts, onRetitled, onGone }: TabPort,
): Tab {
  const conversation = signal<Conversation | undefined>(undefined);
  const { wsId } = first;
  const row = signal(first);
  const unread = signal(false);
  const draft = signal(drafts.find(wsId));
  const sending = signal<string | undefined>(undefined);
  // What is on its way is kept too: it is a draft again when the page is reloaded before the daemon has it.
  const stopKeeping = effect(() => drafts.keep(wsId, draft.value === '' ? (sending.value ?? '') : draft.value));
  let queue: StreamEvent[] = [];

  const flush = () => {
    const events = queue;
    queue = [];
    const shown = conversation.peek();
    if (!shown || events.length === 0) return;
    conversation.value = events.reduce(foldEvent, shown);
    if (events.some(isNews) && !isInFront(wsId)) unread.value = true;
    if (events.some((event) => changesTitle(event, row.peek()))) onRetitled();
  };
  const subscription: Subscription = client.subscribe(wsId, {
    onSnapshot(snapshot) {
      queue = []; // what came before is in the snapshot
      conversation.value = toConversation(snapshot);
    },
    onEvent(event) {
      if (queue.push(event) === 1) schedule(flush);
    },
    onError: onGone,
  });
  return {
    wsId,
    row,
    conversation,
    unread,
    draft,
    chips: signal([]),
    sending,
    problem: signal(undefined),
    close() {
      stopKeeping();
      subscription.close();
    },
  };
}

/** What to call it: the name somebody gave, else its title, else the name it was made with. */
export function tabName(tab: Tab): string {
  const row = tab.row.value;
  const name = tab.conversation.value?.name ?? row.name;
  if (!/^ws-[0-9a-f]{4,}$/.test(name)) return name;
  return row.title ?? (row.sessionKey === 'main' ? 'main' : name);
}

/** The state as the log says, or as the list said before the log was read. */
export const tabState = (tab: Tab): WorkstreamState => tab.conversation.value?.state ?? tab.row.value.state;

/** The first message gives a title, a new beginning takes it. */
const changesTitle = ({ type }: StreamEvent, { title }: WorkstreamRow) =>
  title === null ? type === 'user_turn' : type === 'clear_ui';

const isNews = ({ type }: StreamEvent) =>
  type === 'content' || type === 'error' || type === 'approve_request' || type === 'user_turn';
