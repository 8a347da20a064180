import { formatCursor, parseCursor } from '../../../protocol/cursor.ts';
import type { StreamEvent, TransientEvent } from '../../../protocol/stream-events.ts';
import type { EventLog } from '../events/event-log.ts';
import { joinDeltas } from '../events/join-deltas.ts';
import { type Resumption, resumption } from '../events/resumption.ts';
import type { Snapshots } from '../workstreams/snapshot.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { EventStreams, Opening } from './event-streams.ts';
import type { UnseenEnds } from './unseen-ends.ts';

export interface StreamsDeps {
  workstreams: Pick<Workstreams, 'get' | 'list'>;
  snapshots: Snapshots;
  events: EventLog;
  unseenEnds: UnseenEnds;
}

const PAGE = 512;
const MAX_TURN_CHARS = 1024 * 1024;

/** The HTTP interface's event streams over the shared logs. */
export class WorkstreamStreams implements EventStreams {
  readonly #deps: StreamsDeps;
  readonly #stateListeners = new Set<(wsId: string, json: string) => void>();

  constructor(deps: StreamsDeps) {
    this.#deps = deps;
    deps.events.onAppended((wsId, entries) => {
      const last = entries.findLast(({ type }) => type === 'ws_state');
      if (last) for (const listener of this.#stateListeners) listener(wsId, last.json);
    });
  }

  async open(wsId: string, request: { lastEventId?: string; resume: boolean; snapshot: boolean }): Promise<Opening> {
    const workstream = await this.#deps.workstreams.get(wsId);
    const { events } = this.#deps;
    const cursor = request.resume ? parseCursor(request.lastEventId) : undefined;
    const resumed = cursor && resumption(cursor, { epoch: events.epoch, ...events.bounds(wsId) });
    if (resumed?.recovered) return this.#resumed(workstream, resumed);
    return this.#fresh(workstream, { snapshot: request.snapshot, resumed });
  }

  follow(wsId: string, after: number, stream: Parameters<EventStreams['follow']>[2]) {
    const { events, unseenEnds } = this.#deps;
    const { sink, onEnd, mayDecide = false } = stream;
    return events.follow(wsId, after, {
      sink: {
        ready: () => sink.ready(),
        write(entries) {
          sink.write(entries);
          if (entries.some(({ type }) => type === 'ws_state')) unseenEnds.written(wsId, entries.at(-1)?.offset ?? 0);
        },
        transient: (json) => sink.transient?.(json),
      },
      onEnd,
      mayDecide,
    });
  }

  states(): [string, string][] {
    return this.#deps.workstreams.list().map(({ data }) => [data.wsId, stateJson(data)]);
  }

  onState(listener: (wsId: string, json: string) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** A workstream came without an event of its own (made, reopened). */
  announce(data: { wsId: string; state: string }): void {
    for (const listener of this.#stateListeners) listener(data.wsId, stateJson(data));
  }

  #resumed(workstream: Workstream, { offset }: Resumption): Opening {
    const from = formatCursor({ epoch: this.#deps.events.epoch, offset });
    const frames = [
      { json: json(this.#connected(workstream, { recovered: true })) },
      { id: from, json: json({ type: 'history', messages: [], from }) },
    ];
    return { frames, after: offset };
  }

  async #fresh(
    workstream: Workstream,
    { snapshot, resumed }: { snapshot: boolean; resumed: Resumption | undefined },
  ): Promise<Opening> {
    const { events, snapshots, unseenEnds } = this.#deps;
    const { wsId } = workstream.data;
    const lost = resumed?.reason ? { recovered: false, reason: resumed.reason } : {};
    const connected = this.#connected(workstream, lost);
    const { messages, truncated, after } = await snapshots.history(workstream);
    const history = { type: 'history', messages, ...(truncated && { truncated }) } as const;
    const frames: Opening['frames'] = [
      { json: json(connected) },
      { id: formatCursor({ epoch: events.epoch, offset: after }), json: json(history) },
    ];
    const head = events.bounds(wsId).last;
    const turn = await this.#turnSoFar(wsId, { after, upTo: head, maxChars: snapshot ? Infinity : MAX_TURN_CHARS });
    if (!turn) return { frames, after };
    frames.push(...(snapshot ? asSnapshot(wsId, turn) : turn));
    const unseen = workstream.busy ? undefined : unseenEnds.take(wsId, after);
    if (unseen) frames.push({ json: unseen });
    return { frames, after: head };
  }

  /**
   * The turn in progress as ordinary events with their own ids; a question that is decided replays as `tool_info`. A turn
   * that is longer than one client may cost is undefined: it has to be read from the log, as fast as the client takes it.
   */
  async #turnSoFar(
    wsId: string,
    { after, upTo, maxChars }: { after: number; upTo: number; maxChars: number },
  ): Promise<Required<Opening['frames'][number]>[] | undefined> {
    const stored = [];
    let chars = 0;
    for (let offset = after; offset < upTo; ) {
      const page = await this.#deps.events.page(wsId, offset, Math.min(PAGE, upTo - offset));
      if (page.length === 0) break;
      stored.push(...page);
      chars = page.reduce((sum, { json: text }) => sum + text.length, chars);
      if (chars > maxChars) return undefined;
      offset = page.at(-1)?.offset ?? upTo;
    }
    const decided = new Set<string>();
    const parsed = joinDeltas(stored).map(({ offset, json: text }) => {
      const event: StreamEvent = JSON.parse(text);
      if (event.type === 'approval_resolved') decided.add(event.approval_id);
      return { offset, event, text };
    });
    return parsed.map(({ offset, event, text }) => ({
      id: this.#idOf(offset),
      json: asReplayed(event, text, decided),
    }));
  }

  #idOf(offset: number): string {
    return formatCursor({ epoch: this.#deps.events.epoch, offset });
  }

  #connected({ data }: Workstream, resume: { recovered?: boolean; reason?: Resumption['reason'] }): TransientEvent {
    const { model, model_alias, skip_permissions, name } = data.settingsEvent();
    const { recovered, reason } = resume;
    return {
      type: 'connected',
      ws_id: data.wsId,
      name,
      model,
      model_alias,
      skip_permissions,
      ...(recovered !== undefined && { recovered }),
      ...(reason && { reason }),
    };
  }
}

const json = (event: TransientEvent): string => JSON.stringify(event);

const stateJson = ({ wsId, state }: { wsId: string; state: string }): string =>
  JSON.stringify({ type: 'ws_state', ws_id: wsId, state });

function asReplayed(event: StreamEvent, text: string, decided: ReadonlySet<string>): string {
  if (event.type !== 'approve_request' || !decided.has(event.approval_id)) return text;
  return JSON.stringify({ type: 'tool_info', items: event.items } satisfies StreamEvent);
}

/** What the turn has said, in one frame without id; what else happened in it follows as it was. */
function asSnapshot(wsId: string, turn: { id: string; json: string }[]): Opening['frames'] {
  let content = '';
  let reasoning = '';
  const rest: Opening['frames'] = [];
  for (const { id, json: text } of turn) {
    const event: StreamEvent = JSON.parse(text);
    if (event.type === 'content') content += event.text;
    else if (event.type === 'reasoning') reasoning += event.text;
    else rest.push({ id, json: text });
    if (event.type !== 'stream_end' || !event.interrupted) continue;
    content = ''; // void: it is asked for again
    reasoning = '';
  }
  if (content === '' && reasoning === '') return rest;
  return [{ json: json({ type: 'in_progress_snapshot', content, reasoning, ws_id: wsId }) }, ...rest];
}
