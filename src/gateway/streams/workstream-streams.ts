import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatCursor } from '../../../protocol/cursor.ts';
import type { GlobalEventOf } from '../../../protocol/events/global.ts';
import type { TransientEvent } from '../../../protocol/events/transient.ts';
import type { RequireLease } from '../cluster/require-lease.ts';
import { type EventLog, endedReader } from '../events/event-log.ts';
import type { LogEntry } from '../events/log-reader.ts';
import { parsePlace, type Resumption, resumption, truncation } from '../events/resumption.ts';
import type { Snapshots } from '../history/snapshot.ts';
import { toQueuedEvent } from '../queue/queue-changes.ts';
import type { Audience } from '../sharing/audience.ts';
import { mayPerceive, type Viewer } from '../sharing/perception.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { Beginning, EventStreams, Opening, StreamRequest } from './event-streams.ts';
import type { GlobalEvents, GlobalListener } from './global-events.ts';
import { asSnapshot, replay } from './replay.ts';
import type { RunPlace, UnseenRuns } from './unseen-runs.ts';

export interface StreamsDeps {
  workstreams: Pick<Workstreams, 'get'>;
  global: Pick<GlobalEvents, 'states' | 'listen' | 'find' | 'announce' | 'hide'>;
  snapshots: Snapshots;
  events: EventLog;
  unseenRuns: UnseenRuns;
  requireLease: RequireLease;
}

const MAX_TURN_CHARS = 1024 * 1024;
/** A longer turn is read from the log although a snapshot was asked for. */
const MAX_SNAPSHOT_CHARS = 8 * 1024 * 1024;

/** The event streams of the HTTP interface, on the shared logs. */
export class WorkstreamStreams implements EventStreams {
  readonly #deps: StreamsDeps;
  /** The same entries are written to all streams in a row, so the last answer usually holds. */
  #looked: { entries: readonly LogEntry[]; hasState: boolean } = { entries: [], hasState: false };

  constructor(deps: StreamsDeps) {
    this.#deps = deps;
  }

  async open(wsId: string, request: StreamRequest): Promise<Opening> {
    this.#deps.requireLease();
    const workstream = await this.#deps.workstreams.get(wsId, request.viewer);
    const { events } = this.#deps;
    const since = events.endings;
    const cursor = request.resume ? parsePlace(request.lastEventId) : undefined;
    const log = { epoch: events.epoch, ...events.bounds(wsId) };
    const resumed = cursor && resumption(cursor, log);
    if (resumed?.recovered) {
      const beginning = this.#resumed(resumed);
      beginning.frames.push(...waitingIn(workstream));
      return { connected: connectedTo(workstream, { recovered: true }), since, begin: async () => beginning };
    }
    const begin: Opening['begin'] = (signal) => this.#fresh(workstream, { ...request, signal });
    if (!resumed) return { connected: connectedTo(workstream, {}), since, begin };
    const { reason } = resumed;
    return {
      connected: connectedTo(workstream, { recovered: false, ...(reason && { reason }) }),
      since,
      async begin(signal) {
        const { frames, after } = await begin(signal);
        const lost = frames.length > 0 ? [{ json: json(truncation(resumed, log)) }] : []; // or it became private
        return { frames: [...lost, ...frames], after };
      },
    };
  }

  follow(wsId: string, after: number, stream: Parameters<EventStreams['follow']>[2]) {
    const { viewer, sink, onEnd, mayDecide = false, since } = stream;
    const known = this.#deps.global.find(wsId);
    if (known && !mayPerceive(viewer, known)) return endedReader(after, onEnd); // it became private since the stream was opened
    return this.#deps.events.follow(wsId, after, { viewer, sink, onEnd, mayDecide, since, onWritten: this.#onWritten });
  }

  states(viewer: Viewer): GlobalEventOf<'ws_state'>[] {
    this.#deps.requireLease();
    return this.#deps.global.states(viewer);
  }

  onChange(listener: GlobalListener): () => void {
    return this.#deps.global.listen(listener);
  }

  /** Some perceive a workstream that they did not perceive before. */
  announce(data: Parameters<GlobalEvents['announce']>[0], to: Audience): void {
    this.#deps.global.announce(data, to);
  }

  /** Some no longer perceive a workstream. */
  hide(wsId: string, from: Audience): void {
    this.#deps.global.hide(wsId, from);
  }

  #onWritten = (wsId: string, entries: readonly LogEntry[]): void => {
    if (this.#looked.entries !== entries) {
      this.#looked = { entries, hasState: entries.some(({ type }) => type === 'ws_state') };
    }
    if (this.#looked.hasState) this.#deps.unseenRuns.written(wsId, entries.at(-1)?.offset ?? 0);
  };

  #resumed({ offset }: Resumption): Beginning {
    const from = formatCursor({ epoch: this.#deps.events.epoch, offset });
    return { frames: [{ id: from, json: json({ type: 'history', messages: [], from }) }], after: offset };
  }

  async #fresh(
    workstream: Workstream,
    { viewer, snapshot, history: most, signal }: Omit<StreamRequest, 'resume'> & { signal: AbortSignal },
  ): Promise<Beginning> {
    const { events, snapshots, unseenRuns } = this.#deps;
    const { wsId } = workstream.data;
    const { place, overUpTo, ...loaded } = await this.#placeFor(workstream, { viewer, signal });
    const { after } = place;
    const { messages, truncated } = await snapshots.history(loaded.workstream, place, most);
    loaded.workstream.context.expectRun();
    const history = { type: 'history', messages, ...(truncated && { truncated }) } as const;
    const frames: Beginning['frames'] = [
      { id: formatCursor({ epoch: events.epoch, offset: after }), json: json(history) },
    ];
    const asOne = snapshot && overUpTo === undefined;
    const head = events.bounds(wsId).last;
    const range = { after, upTo: head, maxChars: asOne ? MAX_SNAPSHOT_CHARS : MAX_TURN_CHARS, overUpTo };
    const turn = await replay(events, wsId, range);
    if (!mayPerceive(viewer, loaded.workstream.data)) return { frames: [], after: head }; // it became private meanwhile
    if (!turn || signal.aborted) return { frames: [...frames, ...waitingIn(loaded.workstream)], after };
    frames.push(...(asOne ? asSnapshot(wsId, turn) : turn), ...waitingIn(loaded.workstream));
    unseenRuns.written(wsId, head);
    return { frames, after: head };
  }

  /**
   * Where the history ends and the replay begins. A run that ended before any stream delivered it is replayed from its
   * beginning, unless a newer run begins within a moment: its client then opened the stream before sending.
   */
  async #placeFor(
    workstream: Workstream,
    { viewer, signal }: { viewer: Viewer; signal: AbortSignal },
  ): Promise<StartingPlace> {
    const { snapshots, unseenRuns, workstreams } = this.#deps;
    const { wsId } = workstream.data;
    await nextTurn();
    const ended = unseenRuns.findEnded(wsId);
    if (!ended) return { workstream, place: snapshots.placeOf(workstream) };
    const isNewest = await unseenRuns.staysNewest(ended, signal);
    const open = await workstreams.get(wsId, viewer); // it may have been unloaded or closed meanwhile
    await nextTurn();
    const newest = unseenRuns.newest(wsId);
    if (isNewest && newest === ended && !open.busy) {
      return { workstream: open, place: ended.place, overUpTo: ended.end?.offset };
    }
    const isNewer = newest !== undefined && newest !== ended; // the newer run may have ended already
    return { workstream: open, place: isNewer ? newest.place : snapshots.placeOf(open) };
  }
}

/** The messages that wait, which a stream tells because their announcements are not in the log. */
const waitingIn = ({ queue }: Workstream): Beginning['frames'] =>
  queue
    .all()
    .filter(({ isStored }) => isStored)
    .map(({ run }) => ({ json: json(toQueuedEvent(run)) }));

interface StartingPlace {
  workstream: Workstream;
  place: RunPlace;
  /** The approvals replayed up to this offset are decided. */
  overUpTo?: number | undefined;
}

function connectedTo({ data }: Workstream, resume: { recovered?: boolean; reason?: Resumption['reason'] }): string {
  const { type: _, effort: _effort, name, ...settings } = data.settingsEvent();
  const { recovered, reason } = resume;
  return json({
    type: 'connected',
    ws_id: data.wsId,
    name,
    ...settings,
    mode: data.mode(),
    ...(recovered !== undefined && { recovered }),
    ...(reason && { reason }),
  });
}

const json = (event: TransientEvent): string => JSON.stringify(event);
