import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Cluster, ClusterMember } from '../cluster/cluster.ts';
import type { Dispatch } from '../dispatch.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { readViewer, type WrittenViewer } from './carried-call.ts';
import { serveStream } from './far-streams.ts';
import type { HeldTables } from './held-tables.ts';
import type { Hub, OpenHub } from './links/hub.ts';
import type { LeadLink } from './links/lead-link.ts';
import type { Link, LinkHandlers } from './links/link.ts';
import { serveCall } from './serve-calls.ts';
import { collectNews, type Tellers } from './told-news.ts';

/** What a worker says about itself. */
export interface Joining {
  nodeId: string;
  /** Where clients reach it. */
  serverUrl: string;
  version: string;
  labels: readonly string[];
}

interface WorkerDeps {
  openHub: OpenHub;
  /** The active daemon, as the database names it now. */
  lead(): { process: string; publicKey: string } | undefined;
  leadLink: Pick<LeadLink, 'joined'>;
  nodeId: string;
  serverUrl(): string;
  version: string;
  labels: readonly string[];
  tellers: Tellers;
  dispatch: Dispatch;
  streams: EventStreams;
  /** How many workstreams are loaded. */
  loaded(): number;
  held: HeldTables;
  cluster: Pick<Cluster, 'read'>;
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
}

export function createWorker(deps: WorkerDeps): Worker {
  const { openHub, tellers, lead, leadLink, nodeId, serverUrl, version, labels } = deps;
  const { dispatch, streams, loaded, held, cluster, clock, log } = deps;
  let link: Link | undefined;
  collectNews(tellers, (news) => link?.tell('news', news));
  held.onChanged((tables) => link?.tell('changed', tables));

  const member = async (viewer: WrittenViewer): Promise<ClusterMember | undefined> => {
    const [own] = await cluster.read(readViewer(viewer));
    return own && { ...own, node: { ...own.node, state: 'worker' } };
  };
  const handlersOf = (): LinkHandlers => ({
    answer(what, body, asked) {
      if (what === 'stream') return serveStream(body, asked, streams); // by `farStreams`
      if (what === 'member') return member(body); // by `createLead`
      return serveCall(body, asked, dispatch); // by `createForwarding`
    },
    hear(what, body) {
      if (what === 'changed') held.reload(body); // by `createLead`
    },
  });
  const join = async (hub: Hub): Promise<void> => {
    const found = lead();
    if (found === undefined) return;
    const next = await hub.open(found.process, found.publicKey);
    link = next; // before it joins: the active daemon reads the logs while it takes the worker
    await next.ask('join', { nodeId, serverUrl: serverUrl(), version, labels } satisfies Joining);
    leadLink.joined(next);
    held.reload();
    tellers.global.tellStates();
    log.info({ active: found.process }, 'this worker has joined the active daemon');
    while (!next.ended.aborted && lead()?.process === found.process) {
      next.tell('loaded', loaded());
      await clock.sleep(LOAD_MS, next.ended).catch(() => undefined); // ended: it joins again
    }
    next.end('another daemon is active');
  };
  return {
    async run(signal) {
      const hub = await openHub({ onGreeted: undefined, handlersOf }, signal);
      if (hub === undefined) return;
      signal.addEventListener('abort', () => link?.end('this worker stops'), { once: true });
      let told: string | undefined;
      while (!signal.aborted) {
        await join(hub).catch((error: unknown) => {
          if (told !== wordsOf(error))
            log.warn({ reason: wordsOf(error) }, 'this worker cannot join the active daemon');
          told = wordsOf(error);
        });
        await clock.sleep(RETRY_MS, signal).catch(() => undefined); // aborted: the loop ends
      }
      await hub.close();
    },
  };
}
