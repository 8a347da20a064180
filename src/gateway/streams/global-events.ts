import type { GlobalEvent, GlobalEventOf } from '../../../protocol/events/global.ts';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import type { StreamEvent, StreamEventOf, StreamEventType, WorkstreamState } from '../../../protocol/stream-events.ts';
import { createTold } from '../../timing/told.ts';
import type { EventLog } from '../events/event-log.ts';
import type { LogEntry } from '../events/log-reader.ts';
import { type Audience, type AudienceTerms, audienceFrom, audienceOf } from '../sharing/audience.ts';
import { mayPerceive, type Owned, type Viewer } from '../sharing/perception.ts';
import type { Unloading } from '../workstreams/closing.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { FarStates } from './far-states.ts';

/** Receives the changes of what its viewer perceives. */
export interface GlobalListener {
  viewer: Viewer;
  onEvent(event: GlobalEvent): void;
}

/** A change, as data. */
export interface ToldChange {
  event: GlobalEvent;
  terms: AudienceTerms;
}

/** What a workstream does, and its tokens. */
export type Liveness = Omit<GlobalEventOf<'ws_state'>, 'type' | 'ws_id' | 'state' | 'run' | 'content'>;

type ShownData = Owned & Pick<WorkstreamData, 'wsId' | 'name' | 'state' | 'status' | 'createdMs'>;

interface Place {
  wsId: string;
  known: Known;
}

interface Known {
  data: ShownData;
  name: string;
  activity: Activity;
  usage: Usage | undefined;
  toolCalls: number;
  /** The `content` events of the answer in progress, if somebody has listened since it began. */
  texts: string[] | undefined;
}

type Activity = Pick<Liveness, 'activity' | 'activity_state'>;
type Usage = Pick<Liveness, 'tokens' | 'context_ratio'>;

const FOLLOWED: ReadonlySet<string> = new Set<StreamEventType>([
  ...(['thinking_start', 'content', 'tool_info', 'approve_request', 'approval_resolved'] as const),
  ...(['tool_result', 'status', 'settings_changed', 'ws_rename', 'ws_state'] as const),
]);

const NOTHING: Activity = { activity: '', activity_state: '' };
const THINKING: Activity = { activity: 'Thinking', activity_state: 'thinking' };
const MAX_ACTIVITY_CHARS = 200;
const MAX_CONTENT_CHARS = 256 * 1024;
/** More pieces are not kept, because they cannot be in the first `MAX_CONTENT_CHARS` of an ordinary answer. */
const MAX_PIECES = 100_000;

/** The changes of all workstreams in brief, from their logs, for the streams that show many workstreams at once. */
export class GlobalEvents {
  readonly #known = new Map<string, Known>();
  readonly #listeners = new Set<GlobalListener>();
  readonly #told = createTold<ToldChange>();
  /** Of workstreams that other machines have. */
  readonly #far = new FarStates();
  #health: GlobalEvent | undefined;

  constructor({ events }: { events: Pick<EventLog, 'onAppended'> }) {
    events.onAppended((wsId, entries) => {
      for (const entry of entries) if (FOLLOWED.has(entry.type)) this.#take(wsId, entry);
    });
  }

  /** Calls back for each change, for the daemon that this one tells of them. */
  onTold(listener: (told: ToldChange) => void): void {
    this.#told.add(listener);
  }

  /** The same change at another daemon, to its listeners. */
  retell(change: ToldChange): void {
    this.#far.note(change);
    this.#tell(change.event, audienceFrom(change.terms));
  }

  /** Every later change. */
  listen(listener: GlobalListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The current state of every loaded workstream that the viewer perceives. */
  states(viewer: Viewer): GlobalEventOf<'ws_state'>[] {
    const loaded = [...this.#known.values()].map(({ data }) => data).filter((data) => mayPerceive(viewer, data));
    const here = loaded.sort((a, b) => a.createdMs - b.createdMs).map((data) => this.#toState(data));
    return [...here, ...this.#far.states(viewer)];
  }

  /** What a loaded workstream does now. */
  livenessOf(data: Pick<ShownData, 'wsId' | 'status'>): Liveness {
    const { activity = NOTHING, usage } = this.#known.get(data.wsId) ?? {};
    return { ...(usage ?? toUsage(data.status())), ...activity };
  }

  /** How many tool calls have ended since the workstream was loaded. */
  toolCallsOf(wsId: string): number {
    return this.#known.get(wsId)?.toolCalls ?? 0;
  }

  /** Tells the state of all loaded workstreams again, for a daemon that begins to listen. */
  tellStates(): void {
    for (const { data } of this.#known.values())
      this.#told.tell(() => ({ event: this.#toState(data), terms: audienceOf(data).terms }));
  }

  loaded(data: ShownData): void {
    this.#far.forget(data.wsId);
    this.#known.set(data.wsId, {
      data,
      name: data.name,
      activity: NOTHING,
      usage: undefined,
      toolCalls: 0,
      texts: undefined,
    });
    this.announce(data, audienceOf(data));
  }

  unloaded(data: Owned & Pick<ShownData, 'wsId' | 'name'>, reason: Exclude<Unloading, 'moved'>): void {
    this.#known.delete(data.wsId);
    this.#tell({ type: 'ws_closed', ws_id: data.wsId, name: data.name, reason }, audienceOf(data));
  }

  /** Another machine has it now, and tells of it. */
  moved(wsId: string): void {
    this.#known.delete(wsId);
  }

  /** Tells a change of the health. The first call says what it is at the start. */
  noteHealth({ status, backend }: Pick<HealthSummary, 'status' | 'backend'>): void {
    const about = { status: backend.status, circuit_state: backend.circuitState };
    const event: GlobalEvent = { type: 'health_changed', status, backend: about };
    const isNews = this.#health !== undefined && JSON.stringify(this.#health) !== JSON.stringify(event);
    this.#health = event;
    if (isNews) for (const { onEvent } of this.#listeners) onEvent(event); // of this daemon: not told to another one
  }

  /** The loaded workstream, as the rule of who perceives it needs it. */
  find(wsId: string): Owned | undefined {
    return this.#known.get(wsId)?.data;
  }

  /** Some perceive a workstream that they did not perceive before. */
  announce(data: ShownData, to: Audience): void {
    this.#tell({ type: 'ws_created', ws_id: data.wsId, name: data.name }, to);
    this.#tell(this.#toState(data), to);
  }

  /** Some no longer perceive a workstream: to them, it is closed. */
  hide(wsId: string, from: Audience): void {
    const known = this.#known.get(wsId);
    if (known) this.#tell({ type: 'ws_closed', ws_id: wsId, name: known.name, reason: 'closed' }, from);
  }

  #toState(data: ShownData, state: WorkstreamState = data.state): GlobalEventOf<'ws_state'> {
    return { type: 'ws_state', ws_id: data.wsId, state, ...this.livenessOf(data) };
  }

  #tell(event: GlobalEvent, { includes, terms }: Audience): void {
    this.#told.tell(() => ({ event, terms }));
    for (const { viewer, onEvent } of this.#listeners) if (includes(viewer)) onEvent(event);
  }

  #take(wsId: string, { type, json }: LogEntry): void {
    const known = this.#known.get(wsId);
    if (!known) return;
    if (type === 'tool_result') known.toolCalls += 1;
    else if (type !== 'content') this.#follow({ wsId, known }, JSON.parse(json));
    // Parsed at the end of the run, if at all.
    else if (known.texts && known.texts.length < MAX_PIECES) known.texts.push(json);
  }

  #follow(at: Place, event: StreamEvent): void {
    switch (event.type) {
      case 'thinking_start':
        at.known.texts = this.#listeners.size > 0 || this.#told.hasListeners ? [] : undefined;
        this.#does(at, THINKING);
        break;
      case 'tool_info':
        this.#does(at, toActivity('tool', event.items));
        break;
      case 'approve_request':
        this.#does(at, toActivity('approval', event.items));
        break;
      case 'approval_resolved':
        this.#does(at, { ...at.known.activity, activity_state: 'tool' });
        break;
      case 'status':
        at.known.usage = toUsage(event);
        break;
      case 'settings_changed':
        this.#rename(at, event.name);
        break;
      case 'ws_rename': // a title, which leaves the name as it is
        this.#tell(event, audienceOf(at.known.data));
        break;
      case 'ws_state':
        this.#changeState(at, event);
        break;
    }
  }

  #rename({ wsId, known }: Place, name: string): void {
    if (name === known.name) return;
    known.name = name;
    this.#tell({ type: 'ws_rename', ws_id: wsId, name }, audienceOf(known.data));
  }

  #changeState({ known }: Place, { state, run }: StreamEventOf<'ws_state'>): void {
    const content = run?.status === 'ok' ? toText(known.texts) : '';
    if (state === 'idle' || state === 'error') Object.assign(known, { activity: NOTHING, texts: undefined });
    if (this.#listeners.size === 0 && !this.#told.hasListeners) return;
    const told = { ...this.#toState(known.data, state), ...(run && { run }), ...(content !== '' && { content }) };
    this.#tell(told, audienceOf(known.data));
  }

  #does({ wsId, known }: Place, activity: Activity): void {
    known.activity = activity;
    this.#tell({ type: 'ws_activity', ws_id: wsId, ...activity }, audienceOf(known.data));
  }
}

function toActivity(state: 'tool' | 'approval', items: readonly { header: string }[]): Activity {
  const [first, ...others] = items;
  if (!first) return { activity: '', activity_state: state };
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return { activity: `${first.header.slice(0, MAX_ACTIVITY_CHARS).toWellFormed()}${more}`, activity_state: state };
}

const toUsage = (status: { total_tokens: number; context_window: number } | undefined): Usage => ({
  tokens: status?.total_tokens ?? 0,
  context_ratio: status && status.context_window > 0 ? status.total_tokens / status.context_window : 0,
});

function toText(texts: readonly string[] = []): string {
  let text = '';
  for (const json of texts) {
    const event: StreamEvent = JSON.parse(json);
    if (event.type === 'content') text += event.text;
    if (text.length >= MAX_CONTENT_CHARS) return text.slice(0, MAX_CONTENT_CHARS).toWellFormed();
  }
  return text;
}
