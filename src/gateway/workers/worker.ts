import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Cluster, ClusterMember } from '../cluster/cluster.ts';
import type { Dispatch } from '../dispatch.ts';
import type { Served } from '../health.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { readViewer, type WrittenViewer } from './calls/carried-call.ts';
import { serveCall } from './calls/serve-calls.ts';
import { serveStream } from './far-streams.ts';
import type { HeldTables } from './held-tables.ts';
import type { Hub, OpenHub } from './links/hub.ts';
import type { LeadLink } from './links/lead-link.ts';
import type { Link, LinkHandlers } from './links/link.ts';
import { LINK_PROTOCOL, requireSameProtocol, unknownQuestion } from './links/protocol-version.ts';
import { answerMove, isOfMoves, type MovingHere } from './moving/moving-here.ts';
import type { Membership } from './team.ts';
import { collectNews, type Tellers } from './told-news.ts';

/** What a worker says about itself. */
export interface Joining {
  nodeId: string;
  /** Where clients reach it. */
  serverUrl: string;
  version: string;
  labels: readonly string[];
  /** What it says over links. */
  protocol: number;
}

/** What the active daemon answers. */
export interface Joined {
  version: string;
  protocol: number;
}

interface WorkerDeps {
  openHub: OpenHub;
  /** The active daemon, as the database names it now. */
  lead(): { process: string; publicKey: string } | undefined;
  leadLink: Pick<LeadLink, 'joined'>;
  /** What this worker says about itself. */
  membership: Membership;
  nodeId: string;
  serverUrl(): string;
  version: string;
  labels: readonly string[];
  tellers: Tellers;
  dispatch: Dispatch;
  streams: EventStreams;
  /** What this machine has to do. */
  load(): Served;
  held: HeldTables;
  cluster: Pick<Cluster, 'read'>;
  moving: MovingHere;
  clock: Clock;
  log: Log;
}

const RETRY_MS = 250;
/** How often the active daemon learns how much this one has to do. */
const LOAD_MS = 1_000;

/** Does the work of the active daemon in the workstreams of this machine. */
export interface Worker {
  /** Joins the active daemon, and another one after it, until aborted. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Gives the workstreams that are at rest to the active daemon, before this one stops. What is left after this time is taken over
   * when this one has ended. Never throws.
   */
  leave(longestMs: number): Promise<void>;
}

export function createWorker(deps: WorkerDeps): Worker {
  const { openHub, tellers, lead, leadLink, membership, nodeId, serverUrl, version, labels } = deps;
  const { dispatch, streams, load, held, cluster, moving, clock, log } = deps;
  let link: Link | undefined;
  let isLeaving = false;
  collectNews(tellers, (news) => link?.tell('news', news));
  held.onChanged((tables) => link?.tell('changed', tables));

  const member = async (viewer: WrittenViewer): Promise<ClusterMember | undefined> => {
    const [own] = await cluster.read(readViewer(viewer));
    return own && { ...own, node: { ...own.node, state: 'worker' } };
  };
  const handlersOf = (): LinkHandlers => ({
    async answer(what, body, asked) {
      if (what === 'stream') return serveStream(body, asked, streams); // by `farStreams`
      if (what === 'member') return member(body); // by `createLead`
      if (isOfMoves(what)) return answerMove(what, body, moving); // by `createMoves`
      if (what === 'call') return serveCall(body, asked, dispatch); // by `createForwarding`
      throw unknownQuestion(what);
    },
    hear(what, body) {
      if (what === 'changed')
        held.reload(body); // by `createLead`
      else if (what === 'approvers') tellers.events.approvers.retell(body); // by `createLead`
    },
  });
  const join = async (hub: Hub): Promise<void> => {
    const found = lead();
    if (found === undefined) throw new Error('no daemon is active');
    const next = await hub.open(found.process, found.publicKey);
    await work(next, found.process).finally(() => next.end('this worker could not join'));
  };
  const work = async (next: Link, process: string): Promise<void> => {
    next.ended.addEventListener('abort', () => tellers.events.approvers.forget());
    link = next; // before it joins: the active daemon reads the logs while it takes the worker
    const joining: Joining = { nodeId, serverUrl: serverUrl(), version, protocol: LINK_PROTOCOL, labels };
    const taken: Joined = await next.ask('join', joining);
    requireSameProtocol(taken.protocol, { who: 'The active daemon', version: taken.version });
    Object.assign(membership, { isJoined: true, trouble: undefined });
    leadLink.joined(next);
    held.reload();
    tellers.global.tellStates();
    log.info({ process }, 'this worker has joined the active daemon');
    while (!next.ended.aborted && lead()?.process === process) {
      if (isLeaving) next.tell('leaving', null);
      else next.tell('load', load());
      await clock.sleep(LOAD_MS, next.ended).catch(() => undefined); // ended: it joins again
    }
    next.end('another daemon is active');
  };
  const noteTrouble = (error: unknown): void => {
    const reason = wordsOf(error);
    if (membership.trouble !== reason) log.warn({ reason }, 'this worker cannot join the active daemon');
    membership.trouble = reason;
  };
  return {
    async leave(longestMs) {
      if (link === undefined || link.ended.aborted) return;
      isLeaving = true;
      await giveAll(link, longestMs, { clock, log });
    },
    async run(signal) {
      const hub = await openHub({ onGreeted: undefined, handlersOf }, signal);
      if (hub === undefined) return;
      signal.addEventListener('abort', () => link?.end('this worker stops'), { once: true });
      while (!signal.aborted) {
        await join(hub).catch(noteTrouble);
        membership.isJoined = false;
        await clock.sleep(RETRY_MS, signal).catch(() => undefined); // aborted: the loop ends
      }
      await hub.close();
    },
  };
}

async function giveAll(
  link: Link,
  longestMs: number,
  { clock, log }: Pick<WorkerDeps, 'clock' | 'log'>,
): Promise<void> {
  link.tell('leaving', null);
  const over = new AbortController();
  const late = clock.sleep(longestMs, over.signal).then(() => Promise.reject(new Error('it took too long')));
  await Promise.race([link.ask('leave', null), late]) // by `createLead`
    .catch((err: unknown) => log.warn({ err }, 'not all workstreams were given to the active daemon'))
    .finally(() => over.abort());
}
