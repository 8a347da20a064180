import type { Cluster } from '../cluster/cluster.ts';
import type { Broadcast } from '../connections/broadcast.ts';
import type { Dispatch } from '../dispatch.ts';
import type { EventLog } from '../events/event-log.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Health } from '../health.ts';
import { toNodeDirectory } from '../nodes/node-directory.ts';
import { adoptConversations } from '../recover-conversations.ts';
import type { Runs } from '../runs/runs.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import type { GlobalEvents } from '../streams/global-events.ts';
import type { Budgets } from '../usage/budgets.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { createHeldTables, type Holder } from './held-tables.ts';
import { createLead, type Lead } from './lead.ts';
import { createMovingHere } from './moving/moving-here.ts';
import type { TakeOverDeps } from './take-over.ts';
import { WaitingWorkstreams } from './waiting-workstreams.ts';
import { createWorker, type Worker } from './worker.ts';

interface Loaded {
  load(): Promise<unknown>;
}

/** As much of the conversations as other machines have to do with. */
interface Talking {
  records: { events: EventLog; budgets: Budgets; policies: Loaded; rules: Loaded };
  talks: {
    global: GlobalEvents;
    streams: EventStreams;
    workstreams: Workstreams;
    outbox: { deliveries: { wake(): void } };
  };
  turns: {
    runs: Runs;
    cron: { scheduler: { takeIn(jobIds: readonly string[]): void }; main: { takeLeft(): Promise<unknown> } };
  };
}

/** This daemon as one that gives work to others; undefined: it cannot. */
export function createLeadOf(
  { machines, store, shared, nodes, workdirs, background, readOutput, auth, server, clock, log }: LeadDeps,
  {
    records: { events, budgets, policies, rules },
    talks: { global, streams, workstreams, outbox },
    turns: { runs, cron },
  }: Talking,
  broadcast: Broadcast,
): Lead | undefined {
  if (machines?.role !== 'lead' || shared === undefined) return undefined;
  const { nodeId, labels } = server;
  const owner = { labels, identify: workdirs.identify };
  const waiting = new WaitingWorkstreams({ store, nodeId });
  const onArrived = (wsIds: readonly string[]) => background.watches.records.arrived(wsIds);
  const adopt: TakeOverDeps['adopt'] = async (moved) => {
    const deps = { store, server, background, readOutput, clock, log };
    await adoptConversations(moved, deps, { events, budgets, workstreams, runs });
    onArrived(moved.wsIds);
  };
  const takeJobs = (jobIds: readonly string[]): void => {
    cron.scheduler.takeIn(jobIds);
    void cron.main.takeLeft().catch((err: unknown) => log.warn({ err }, UNTAKEN));
  };
  return createLead({
    openHub: machines.openHub,
    tellers: { events, broadcast, global },
    events,
    streams,
    store,
    shared,
    loaded: () => workstreams.list(DAEMON).length,
    held: createHeldTables(
      [
        ...rulesHeld({ policies, rules }),
        { tables: OUTBOX, reload: async () => outbox.deliveries.wake() },
        { tables: AUDIT, reload: async () => auth.trail.noteRecord() },
        { tables: [...CREDENTIALS, ...SECRETS], reload: async () => undefined },
        { tables: MAIN_EVENTS, reload: () => cron.main.takeLeft() },
      ],
      { store, log },
    ),
    nodes: toNodeDirectory(nodes),
    takingOver: { store, shared, owner, waiting, adopt, takeJobs, log },
    waiting,
    here: { nodeId, labels },
    moving: { here: createMovingHere({ store, workstreams, owner, onArrived, log }), workstreams },
    isBalancing: machines.isBalancing,
    version: server.version,
    clock,
    log,
  });
}

type LeadDeps = Pick<
  GatewayDeps,
  | 'machines'
  | 'store'
  | 'shared'
  | 'nodes'
  | 'workdirs'
  | 'background'
  | 'readOutput'
  | 'auth'
  | 'server'
  | 'clock'
  | 'log'
>;

/** Workers add messages to it, and the active daemon delivers them. */
const OUTBOX = ['outbox'];
/** Workers add records to it, and the active daemon signs them. */
const AUDIT = ['audit'];
/** Only the active daemon changes them, and workers read them again. */
const [CREDENTIALS, SECRETS] = [['users', 'roles', 'role_assignments', 'api_tokens'], ['secrets']];
/** Workers leave events for the main session there. */
const MAIN_EVENTS = ['main_events'];
const UNTAKEN = 'events that a worker has left for the main session could not be queued; trying again later';

/** What both a worker and the active daemon may change. */
const rulesHeld = ({ policies, rules }: Pick<Talking['records'], 'policies' | 'rules'>): Holder[] => [
  { tables: ['tool_policies'], reload: () => policies.load() },
  { tables: ['rules'], reload: () => rules.load() },
];

interface Served {
  conversations: Pick<Talking, 'records' | 'talks'>;
  broadcast: Broadcast;
  dispatch: Dispatch;
  cluster: Pick<Cluster, 'read'>;
  health: Pick<Health, 'here'>;
}

/** This daemon as one that gets work from the active one; undefined: it does not. */
export function createWorkerOf(
  { machines, store, workdirs, background, auth, mcpAdmin, toolServers, server, clock, log }: WorkerDeps,
  { conversations: { records, talks }, broadcast, dispatch, cluster, health }: Served,
): Worker | undefined {
  if (machines?.role !== 'worker') return undefined;
  const { openHub, lead, leadLink, membership } = machines;
  const { global, streams, workstreams } = talks;
  const owner = { labels: server.labels, identify: workdirs.identify };
  const onArrived = (wsIds: readonly string[]) => background.watches.records.arrived(wsIds);
  return createWorker({
    openHub,
    lead,
    leadLink,
    membership,
    nodeId: server.nodeId,
    serverUrl: server.url,
    version: server.version,
    labels: server.labels,
    tellers: { events: records.events, broadcast, global },
    dispatch,
    streams,
    load: () => health.here(),
    held: createHeldTables(
      [
        ...rulesHeld(records),
        { tables: CREDENTIALS, reload: async () => auth.reload?.() },
        { tables: [...OUTBOX, ...AUDIT, ...MAIN_EVENTS], reload: async () => undefined },
        { tables: SECRETS, reload: () => mcpAdmin.stored.load().then(() => toolServers.start()) },
      ],
      { store, log },
    ),
    cluster,
    moving: createMovingHere({ store, workstreams, owner, onArrived, log }),
    clock,
    log,
  });
}

type WorkerDeps = Pick<
  GatewayDeps,
  'machines' | 'store' | 'workdirs' | 'background' | 'auth' | 'mcpAdmin' | 'toolServers' | 'server' | 'clock' | 'log'
>;
