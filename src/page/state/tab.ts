import { effect, type Signal, signal } from '@preact/signals';
import type { Subscription } from '../../../protocol/client/subscriptions.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Watch } from '../../../protocol/events/watch.ts';
import type { WorkstreamRow } from '../../../protocol/methods/conversation/listing.ts';
import type { QueuedMessage } from '../../../protocol/queue/queue-methods.ts';
import type { Attachment, StreamEvent, WorkstreamState } from '../../../protocol/stream-events.ts';
import { generatedName, toShownName } from '../../../protocol/text/generated-name.ts';
import type { AsideTarget } from './aside/aside-target.ts';
import type { KeptAside } from './aside/kept-aside.ts';
import { type Conversation, foldEvent, toConversation } from './conversation/conversation.ts';
import { forgetOld } from './conversation/old-blocks.ts';
import type { Drafts } from './drafts.ts';
import type { Goal } from './finding/goal.ts';

/** A file attached to the draft. */
export interface Chip {
  key: string;
  name: string;
  /** Undefined while it is being uploaded. */
  attachment: Attachment | undefined;
}

/** A message with its files, as the composer holds it. */
export interface Draft {
  text: string;
  chips: readonly Chip[];
}

/** One loaded workstream. Its events are received as long as the tab exists. */
export interface Tab {
  readonly wsId: string;
  readonly row: Signal<WorkstreamRow>;
  /** Undefined until the first snapshot. */
  readonly conversation: Signal<Conversation | undefined>;
  /** There are new messages since the tab was last in front. */
  readonly unread: Signal<boolean>;
  /** The messages that wait until the run has ended. */
  readonly queue: Signal<readonly QueuedMessage[]>;
  readonly draft: Signal<string>;
  /** Files attached to the draft. */
  readonly chips: Signal<readonly Chip[]>;
  /** The messages that the daemon does not have yet. The first is being sent. */
  readonly sending: Signal<readonly Draft[]>;
  /** What the person wants to read next. The view removes it once it is shown. */
  readonly goal: Signal<Goal | undefined>;
  /** The words that are searched in the conversation; undefined while the search is closed. */
  readonly search: Signal<string | undefined>;
  /** A person reads further up, so that nothing may go that is shown. */
  readonly isReadBack: Signal<boolean>;
  /** What is shown beside the conversation. */
  readonly aside: Signal<AsideTarget | undefined>;
  /** The error of the last action in this tab. */
  readonly problem: Signal<string | undefined>;
  /** Applies the events that were received since the last drawn frame. */
  catchUp(): void;
  /** Reads the conversation before those of other tabs. */
  hurry(): void;
  /** Receives its events again, after the workstream was closed and opened again. */
  follow(): void;
  close(): void;
}

interface TabPort {
  client: Pick<GatewayClient, 'subscribe'>;
  /** Runs the callback soon, once per drawn frame. */
  schedule(run: () => void): void;
  isInFront(wsId: string): boolean;
  asides: Pick<KeptAside, 'find' | 'keep'>;
  drafts: Pick<Drafts, 'find' | 'findFiles' | 'keep'>;
  /** The title has changed, or who sees it. The list has to be read again. */
  onRetitled(): void;
  onWatch(watch: Watch): void;
  /** The daemon sends no more events of the workstream. `wasThere`: it has sent some. */
  onGone(wasThere: boolean): void;
}

export function openTab(
  first: WorkstreamRow,
  { client, schedule, isInFront, asides, drafts, onRetitled, onWatch, onGone }: TabPort,
): Tab {
  const conversation = signal<Conversation | undefined>(undefined);
  const { wsId } = first;
  const row = signal(first);
  const unread = signal(false);
  const draft = signal(drafts.find(wsId));
  const chips = signal<readonly Chip[]>(drafts.findFiles(wsId).map(toChip));
  const sending = signal<readonly Draft[]>([]);
  // Messages being sent are kept too: if the page is reloaded before the daemon has them, they are a draft again.
  const stopKeeping = effect(() => {
    const unsent = [...sending.value, { text: draft.value, chips: chips.value }];
    const files = unsent.flatMap((one) => one.chips.flatMap(({ attachment }) => attachment ?? []));
    drafts.keep(wsId, joinTexts(unsent.map(({ text }) => text)), files);
  });
  const place = openPlace(asides.find(wsId));
  const stopKeepingAside = effect(() => asides.keep(wsId, place.aside.value));
  let queue: StreamEvent[] = [];

  const flush = () => {
    const events = queue;
    queue = [];
    const shown = conversation.peek();
    if (!shown || events.length === 0) return;
    const now = events.reduce(foldEvent, shown);
    conversation.value = isStill(place) ? forgetOld(now, callIn(place.aside.peek())) : now;
    if (events.some(isNews) && !isInFront(wsId)) unread.value = true;
    if (events.some((event) => changesRow(event, row.peek()))) onRetitled();
    events.filter(isWatch).forEach(onWatch);
  };
  const follow = (after?: string): Subscription => {
    let wasThere = false;
    return client.subscribe(wsId, {
      after,
      onSnapshot(snapshot) {
        wasThere = true;
        queue = []; // the snapshot contains the earlier events
        conversation.value = toConversation(snapshot);
      },
      onEvent(event) {
        wasThere = true;
        if (queue.push(event) === 1) schedule(flush);
      },
      onError: () => onGone(wasThere),
    });
  };
  let subscription = follow();
  return {
    wsId,
    row,
    conversation,
    unread,
    queue: signal([]),
    draft,
    chips,
    sending,
    ...place,
    problem: signal(undefined),
    catchUp: flush,
    hurry: () => subscription.hurry(),
    follow() {
      subscription = follow(subscription.cursor); // replaces the one that ended
    },
    close() {
      stopKeeping();
      stopKeepingAside();
      subscription.close();
    },
  };
}

/** Where a person reads. */
type Place = Pick<Tab, 'goal' | 'search' | 'isReadBack' | 'aside'>;

const openPlace = (aside: AsideTarget | undefined): Place => ({
  goal: signal(undefined),
  search: signal(undefined),
  isReadBack: signal(false),
  aside: signal(aside),
});

/** The person sees the end, and looks for nothing. */
const isStill = ({ goal, search, isReadBack }: Place): boolean =>
  !isReadBack.peek() && goal.peek() === undefined && search.peek() === undefined;

const callIn = (aside: AsideTarget | undefined): string | undefined =>
  aside && 'callId' in aside ? aside.callId : undefined;

export const toChip = (attachment: Attachment): Chip => ({
  key: attachment.attachment_id,
  name: attachment.filename,
  attachment,
});

/** One draft out of several. */
export const joinTexts = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n\n');

/** The name to show: the name a person gave, else the title, else the generated name. */
export function tabName(tab: Tab): string {
  const row = tab.row.value;
  const name = tab.conversation.value?.name ?? row.name;
  if (name !== generatedName(tab.wsId)) return name;
  return row.title ?? toShownName({ wsId: tab.wsId, sessionKey: row.sessionKey, name });
}

/** The state from the event log, or from the list until the log is read. */
export const tabState = (tab: Tab): WorkstreamState => tab.conversation.value?.state ?? tab.row.value.state;

/** The first message sets the title, and the model may replace it; clearing, or taking back everything, removes it. Only the list says who sees it, too. */
const changesRow = (event: StreamEvent, row: WorkstreamRow) =>
  event.type === 'settings_changed' ? event.visibility !== undefined : changesTitle(event, row);

const changesTitle = ({ type }: StreamEvent, { title }: WorkstreamRow) =>
  type === 'ws_rename' || (title === null ? type === 'user_turn' : type === 'clear_ui' || type === 'rewound');

const isWatch = (event: StreamEvent) => event.type === 'watch';

const isNews = ({ type }: StreamEvent) =>
  type === 'content' || type === 'error' || type === 'approve_request' || type === 'user_turn';
