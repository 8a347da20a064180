import type { NodeDirectory } from '../../agent/tools/node.ts';
import type { ClusterMember } from '../cluster/cluster.ts';
import type { WatchedLogs } from '../events/approvers.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Served } from '../health.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import type { Store } from '../store/store.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { writeViewer } from './calls/carried-call.ts';
import { createForwarding, type Far, type Forwarding } from './calls/forwarding.ts';
import { Crew } from './crew.ts';
import { serveInvocation } from './far-nodes.ts';
import { farStreams } from './far-streams.ts';
import type { HeldTables } from './held-tables.ts';
import type { OpenHub } from './links/hub.ts';
import type { Link, LinkHandlers } from './links/link.ts';
import { LINK_PROTOCOL, requireSameProtocol, unknownQuestion } from './links/protocol-version.ts';
import { createMovements, type MovementDeps } from './moving/movements.ts';
import type { Moves } from './moving/moves.ts';
import { resyncLogs } from './resync-logs.ts';
import { createSurvey, type Survey } from './survey.ts';
import { watchMachines } from './take-over.ts';
import { lacks, noMachine, type Placement, type Placing, requireLabels } from './team.ts';
import { retell, type Tellers } from './told-news.ts';
import type { WaitingWorkstreams } from './waiting-workstreams.ts';
import type { Joined, Joining } from './worker.ts';

/** The active daemon, as it gives work to workers. */
export interface Lead extends Placing {
  forwarding: Forwarding;
  /** The streams of all machines. */
  streams: EventStreams;
  moves: Moves;
  /** Where the workers are that have joined, for clients, by their ids. */
  urls(): ReadonlyMap<string, string>;
  /** The workers that have joined and answer, with their workstreams, as far as the viewer perceives them. */
  members(viewer: Viewer): Promise<ClusterMember[]>;
  /** What the workers that have joined have to do. */
  loads(): readonly Served[];
  /** What the database says about the machines. */
  survey(): Survey;
  /** Takes workers until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

interface LeadDeps extends MovementDeps {
  openHub: OpenHub;
  tellers: Tellers;
  events: Pick<EventLog, 'endings' | 'resync' | 'end' | 'leave'>;
  streams: EventStreams;
  store: Pick<Store, 'openLogs' | 'db'>;
  shared: Pick<SharedStore, 'machines'>;
  held: HeldTables;
  /** Those that runs of workers use. */
  nodes: NodeDirectory;
  waiting: WaitingWorkstreams;
  version: string;
}

export function createLead(deps: LeadDeps): Lead {
  const { openHub, tellers, streams, shared, loaded, held, nodes, waiting, here, clock, log } = deps;
  const crew = new Crew({ log });
  const survey = createSurvey({ shared, waiting, clock, log });
  const { far, resync } = createFar(crew, deps);
  const movements = createMovements(crew, far, deps);
  held.onChanged((tables) => crew.tell('changed', tables));
  tellers.events.approvers.onTold((logs) => crew.tell('approvers', logs));
  const noteChange = (from: Link, tables: readonly string[]): void => {
    held.reload(tables);
    for (const link of crew.links()) if (link !== from) link.tell('changed', tables);
  };
  const join = joining(crew, resync, deps);
  // What a worker says is made by `createWorker`.
  const onGreeted = (link: () => Link): LinkHandlers => ({
    async answer(what, body, asked) {
      if (what === 'join') return join(link(), body);
      if (what === 'leave') return movements.leave(link());
      if (what === 'nodes') return nodes.list(asked.signal); // by `farNodes`
      if (what === 'invoke') return serveInvocation(body, asked, nodes); // by `farNodes`
      throw unknownQuestion(what);
    },
    hear(what, body) {
      if (what === 'news') retell(body, tellers);
      else if (what === 'changed') noteChange(link(), body);
      else if (what === 'load') crew.noteLoad(link(), body);
      else if (what === 'leaving') crew.noteLeaving(link());
    },
  });
  return {
    moves: movements.moves,
    forwarding: createForwarding({ far, machines: () => crew.machines() }),
    streams: farStreams(streams, far),
    placement: createPlacement(crew, { here, loaded }),
    waiting,
    urls: () => crew.urls(),
    loads: () => crew.loads(),
    survey: survey.latest,
    async members(viewer) {
      const asked = writeViewer(viewer);
      const answered = await Promise.allSettled(crew.links().map((link) => link.ask('member', asked)));
      return answered.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    },
    async run(signal) {
      const opening = openHub({ onGreeted, handlersOf: onGreeted }, signal);
      const watching = watchMachines(movements.watched, signal);
      const [hub] = await Promise.all([opening, watching, movements.run(signal), survey.run(signal)]);
      await hub?.close();
    },
  };
}

type JoiningDeps = Pick<LeadDeps, 'tellers' | 'held' | 'waiting' | 'version'>;

/** Takes a worker that has greeted. `resync`: reads what it did while there was no link to it. */
const joining =
  (crew: Crew, resync: (machine: string) => void, { tellers, held, waiting, version }: JoiningDeps) =>
  (link: Link, worker: Joining): Joined => {
    requireSameProtocol(worker.protocol, { who: 'The worker', version: worker.version });
    crew.join(link, worker);
    waiting.note(worker.nodeId, new Map(), { isAll: true }); // before the next look for machines that have gone
    // What it has changed while there was no link, and what it does not come to say at its end.
    held.reload();
    link.ended.addEventListener('abort', () => held.reload(), { once: true });
    resync(worker.nodeId);
    const watched = tellers.events.approvers.watched();
    if (watched.length > 0) link.tell('approvers', { begun: watched, ended: [] } satisfies WatchedLogs);
    return { protocol: LINK_PROTOCOL, version };
  };

const createPlacement = (crew: Crew, { here, loaded }: Pick<LeadDeps, 'here' | 'loaded'>): Placement => ({
  choose(labels, { isHereFirst = false } = {}) {
    const isAble = !lacks(here, labels);
    if (isAble && isHereFirst) return undefined;
    const chosen = crew.least(isAble ? loaded() : Number.POSITIVE_INFINITY, labels);
    if (chosen === undefined && !isAble) throw noMachine(labels, [here, ...crew.candidates()]);
    return chosen;
  },
  machines: () => crew.machines(),
  has: (nodeId) => crew.linkTo(nodeId) !== undefined,
  requireLabels(nodeId, labels) {
    requireLabels(crew.candidates().find((worker) => worker.nodeId === nodeId) ?? here, labels);
  },
});

/** The logs of workers that are read here. */
function createFar(
  crew: Crew,
  { events, store, waiting, log }: Pick<LeadDeps, 'events' | 'store' | 'waiting' | 'log'>,
) {
  const read = new Map<string, Set<string>>();
  const far: Far = {
    linkTo: crew.linkTo,
    refusal: (elsewhere) => waiting.refusal(elsewhere),
    async openLogs(machine, wsIds) {
      const logs = read.get(machine) ?? new Set();
      read.set(machine, logs);
      for (const wsId of wsIds) logs.add(wsId);
      await store.openLogs(wsIds);
    },
    endings: () => events.endings,
  };
  return {
    far,
    /** What a worker did while there was no link to it. */
    resync(machine: string): void {
      resyncLogs([...(read.get(machine) ?? [])], { events, store }).catch((err: unknown) =>
        log.warn({ err, worker: machine }, 'the logs of a worker could not be read again'),
      );
    },
  };
}
