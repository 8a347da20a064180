import { computed, signal } from '@preact/signals';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Watch } from '../../../protocol/events/watch.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import { isBusy } from '../../../protocol/is-busy.ts';
import type { WorkstreamRow } from '../../../protocol/methods/conversation/listing.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { KeptAside } from './aside/kept-aside.ts';
import { arrangeTabs } from './coordinators/arranged-tabs.ts';
import type { Drafts } from './drafts.ts';
import type { Place } from './finding/message-link.ts';
import type { Pins } from './rail/pins.ts';
import { toSections } from './rail/rail-sections.ts';
import { Newest } from './reading/newest.ts';
import { openTab, type Tab, tabName } from './tab.ts';

interface Port {
  client: GatewayClient;
  schedule(run: () => void): void;
  /** Whether a person can see the page. */
  isVisible(): boolean;
  /** Stores which tab is in front, over a reload. */
  memory: Pick<Storage, 'getItem' | 'setItem'>;
  drafts: Pick<Drafts, 'find' | 'findFiles' | 'keep'>;
  pins: Pick<Pins, 'ids'>;
}

/** What can be shown instead of a conversation. */
export type Panel = 'dashboard' | 'inbox' | 'agent' | 'schedule' | 'nodes' | 'channels' | 'usage' | 'account';

const MEMORY_KEY = 'headgate.front';

/** The loaded workstreams as tabs, in the daemon's order, and which one is in front. */
export class Workstreams {
  readonly #port: Port;
  readonly #asides: KeptAside;
  readonly #front = signal<string | undefined>(undefined);
  readonly tabs = signal<readonly Tab[]>([]);
  /** Whether the front workstream or a panel is shown. */
  readonly shown = signal<'conversation' | Panel>('conversation');
  /** The watch that changed last, in any of them. */
  readonly watched = signal<Watch | undefined>(undefined);
  /** The one in front was not chosen: it stands in the place of one that somebody else has closed or taken away. */
  readonly isSubstitute = signal(false);
  readonly #lists = new Newest();
  /** Whose events the daemon no longer sends. If the list still has them, they were opened again meanwhile. */
  readonly #ended = new Map<string, symbol>();
  /** The person closes it, or gives it away. */
  #leaving: string | undefined;
  readonly front = computed(() => this.tabs.value.find(({ wsId }) => wsId === this.#front.value));
  readonly #folds = signal<ReadonlyMap<string, boolean>>(new Map());
  readonly #hidden = signal<ReadonlySet<string>>(new Set());
  /** The tabs as they are listed: in sections, and those of a coordinator stand below it. */
  readonly sections = computed(() => {
    const shown = this.tabs.value.filter(({ wsId }) => !this.#hidden.value.has(wsId));
    const listed = arrangeTabs(shown, { folds: this.#folds.value, front: this.#front.value });
    return toSections(listed, this.#port.pins.ids.value);
  });
  readonly listed = computed(() => this.sections.value.flatMap(({ rows }) => rows));

  constructor(port: Port) {
    this.#port = port;
    this.#asides = new KeptAside(port.memory);
    this.#front.value = port.memory.getItem(MEMORY_KEY) ?? undefined;
    const { client } = port;
    client.on('workstream.opened', ({ wsId }) => {
      if (!this.#isOpen(wsId) || this.#ended.has(wsId)) this.refreshLater();
    });
    client.on('workstream.closed', ({ wsId }) => {
      if (this.#isOpen(wsId)) this.#onEnd(wsId);
    });
    client.on('queue.changed', ({ wsId, messages }) => {
      const tab = this.tabs.peek().find((other) => other.wsId === wsId);
      if (tab) tab.queue.value = messages;
    });
    // Only the list has titles and times.
    client.on('tick', () => this.refreshLater());
    client.on('health', () => this.refreshLater());
  }

  async refresh(): Promise<void> {
    const isNewest = this.#lists.ask();
    const ended = new Map(this.#ended);
    const workstreams = await this.#list();
    if (!isNewest()) return;
    const before = new Map(this.tabs.peek().map((tab) => [tab.wsId, tab]));
    const front = this.#front.peek();
    const gone = this.front.peek();
    const adopted = new Map(
      workstreams
        .toSorted((one, other) => Number(other.wsId === front) - Number(one.wsId === front)) // its conversation is waited for
        .map((row) => [row.wsId, this.#adopt(row, before.get(row.wsId))]),
    );
    const tabs = workstreams.flatMap(({ wsId }) => adopted.get(wsId) ?? []);
    const loaded = new Set(workstreams.map(({ wsId }) => wsId));
    for (const [wsId, tab] of before) if (!loaded.has(wsId)) tab.close();
    this.#followAgain(ended, loaded);
    this.tabs.value = tabs;
    if (!this.front.peek() && tabs[0]) this.#replace(gone, tabs[0]);
    // Nobody waits for them: with many running workstreams, a dialog would stay open after its work is done.
    for (const tab of tabs.filter(mayQueue)) this.#readQueue(tab).catch(() => undefined); // as in refreshLater
  }

  /** The loaded workstreams. The one in front is loaded again if it was unloaded to make room. */
  async #list(): Promise<WorkstreamRow[]> {
    const { client } = this.#port;
    const { workstreams } = await client.call('workstream.list', {});
    const front = this.front.peek();
    if (!front || workstreams.some(({ wsId }) => wsId === front.wsId)) return workstreams;
    try {
      await client.call('workstream.get', { wsId: front.wsId });
    } catch {
      return workstreams; // it was closed, or nothing else can be unloaded
    }
    return (await client.call('workstream.list', {})).workstreams;
  }

  #onEnd(wsId: string): void {
    this.#ended.set(wsId, Symbol(wsId));
    this.refreshLater();
  }

  /** `ended`: when the list was asked for. What has ended again since waits for the next list. */
  #followAgain(ended: ReadonlyMap<string, symbol>, loaded: ReadonlySet<string>): void {
    for (const [wsId, end] of ended) {
      if (this.#ended.get(wsId) !== end) continue;
      this.#ended.delete(wsId);
      if (loaded.has(wsId))
        this.tabs
          .peek()
          .find((tab) => tab.wsId === wsId)
          ?.follow();
    }
  }

  /** What an event said meanwhile is newer. */
  async #readQueue(tab: Tab): Promise<void> {
    const before = tab.queue.peek();
    const { messages } = await this.#port.client.call('queue.list', { wsId: tab.wsId });
    if (tab.queue.peek() === before) tab.queue.value = messages;
  }

  refreshLater(): void {
    // A failure here is a lost connection: the page shows it, and refreshes after reconnecting.
    this.refresh().catch(() => undefined);
  }

  select(wsId: string): void {
    this.shown.value = 'conversation';
    this.#bring(wsId);
  }

  /** Marks the front workstream as read, when the page becomes visible. */
  markRead(): void {
    const tab = this.front.peek();
    if (tab && this.shown.peek() === 'conversation') tab.unread.value = false;
  }

  /** Brings the next tab in the list to the front; the first follows the last. */
  step(by: 1 | -1): void {
    const tabs = this.listed.peek().map(({ tab }) => tab);
    const at = tabs.findIndex(({ wsId }) => wsId === this.#front.peek());
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next) this.select(next.wsId);
  }

  /** Shows or hides what stands below a coordinator in the list. */
  fold(wsId: string, isFolded: boolean): void {
    this.#folds.value = new Map([...this.#folds.peek(), [wsId, isFolded]]);
  }

  /** Takes a workstream out of the list, or back into it. The next one comes to the front in its place. */
  hide(wsId: string, isHidden: boolean): void {
    if (isHidden && this.#front.peek() === wsId) this.step(1);
    const hidden = new Set(this.#hidden.peek());
    if (isHidden) hidden.add(wsId);
    else hidden.delete(wsId);
    this.#hidden.value = hidden;
  }

  /** Creates or reopens a workstream and brings it to the front. */
  async create(params: ParamsInput<'workstream.create'>): Promise<void> {
    const { wsId } = await this.#port.client.call('workstream.create', params);
    await this.show(wsId);
  }

  async show(wsId: string): Promise<void> {
    this.select(wsId);
    await this.refresh();
  }

  /** Follows a link to a conversation, opened if it was closed, and to a message of it. */
  async visit({ wsId, seq }: Place, words?: string): Promise<void> {
    if (this.tabs.peek().length === 0) await this.refresh(); // right after the start
    if (!this.#isOpen(wsId)) await this.#port.client.call('workstream.open', { wsId });
    await this.show(wsId);
    const tab = this.front.peek();
    if (tab?.wsId !== wsId) throw new Error('This conversation is not there.');
    if (words !== undefined) tab.search.value = words;
    if (seq !== undefined) tab.goal.value = { seq };
  }

  /** Brings the conversation of a session to the front, opened if it was closed. */
  async showSession(sessionKey: string): Promise<void> {
    const open = this.tabs.peek().find((tab) => tab.row.peek().sessionKey === sessionKey);
    if (open) return this.show(open.wsId);
    const { sessionId } = await this.#port.client.call('chat.history', { sessionKey, limit: 1 });
    if (sessionId === undefined) throw new Error('This conversation is gone.');
    await this.create({ resumeWs: sessionId });
  }

  async close(tab: Tab): Promise<void> {
    await this.#leave(tab.wsId, () => this.#port.client.call('workstream.close', { wsId: tab.wsId }));
  }

  /** Sets who sees it, or whose it is. */
  async share({ wsId }: Tab, change: Omit<ParamsInput<'workstream.share'>, 'wsId'>): Promise<void> {
    await this.#leave(wsId, () => this.#port.client.call('workstream.share', { wsId, ...change }));
  }

  dispose(): void {
    for (const tab of this.tabs.peek()) tab.close();
  }

  /** Says what happened where the person would go on writing, to another conversation. */
  #replace(gone: Tab | undefined, next: Tab): void {
    this.#bring(next.wsId);
    if (!gone || gone.wsId === this.#leaving || this.shown.peek() !== 'conversation') return;
    this.isSubstitute.value = true;
    next.problem.value = `“${toVisibleLine(tabName(gone))}” is not open any more. This is another workstream.`;
  }

  /** After this, the person may not see it any more, and knows why. */
  async #leave(wsId: string, act: () => Promise<unknown>): Promise<void> {
    this.#leaving = wsId;
    try {
      await act();
      await this.refresh();
    } finally {
      this.#leaving = undefined;
    }
  }

  #bring(wsId: string): void {
    this.isSubstitute.value = false;
    this.#front.value = wsId;
    this.front.peek()?.hurry();
    this.#port.memory.setItem(MEMORY_KEY, wsId);
    this.markRead();
  }

  #isOpen(wsId: string): boolean {
    return this.tabs.peek().some((tab) => tab.wsId === wsId);
  }

  #adopt(row: WorkstreamRow, tab: Tab | undefined): Tab {
    if (tab) {
      tab.row.value = row;
      return tab;
    }
    const { client, schedule, isVisible, drafts } = this.#port;
    return openTab(row, {
      client,
      schedule,
      drafts,
      asides: this.#asides,
      isInFront: (wsId) => isVisible() && this.shown.peek() === 'conversation' && this.#front.peek() === wsId,
      onRetitled: () => this.refreshLater(),
      onWatch: (watch) => {
        this.watched.value = watch;
      },
      // A subscription that is refused at once is not repeated: it would be refused again and again.
      onGone: (wasThere) => (wasThere ? this.#onEnd(row.wsId) : this.refreshLater()),
    });
  }
}

/** Messages wait during a run, or after one that failed. */
const mayQueue = ({ row, queue }: Tab): boolean => {
  const { state } = row.peek();
  return isBusy(state) || state === 'error' || queue.peek().length > 0;
};
