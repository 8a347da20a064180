import type { Spending } from '../agent/run/spending.ts';
import { createOutbox } from './channels/create-outbox.ts';
import type { RequireLease } from './cluster/require-lease.ts';
import { Commands } from './commands/commands.ts';
import type { Broadcast } from './connections/broadcast.ts';
import { createRecords, type RecordDeps } from './conversations/create-records.ts';
import { sweepRemoved } from './conversations/sweep-removed.ts';
import { createRunCoordinators } from './coordinators/run-coordination.ts';
import { createSchedules, type ScheduleDeps } from './create-schedules.ts';
import { createCompactions } from './cuts/create-compactions.ts';
import { Forks } from './cuts/forks.ts';
import { Rewinds } from './cuts/rewinds.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { contextLoader } from './history/context-loader.ts';
import { createSnapshots } from './history/snapshot.ts';
import type { Idempotency } from './idempotency.ts';
import { createSavedWorkstreams } from './listing/saved-workstreams.ts';
import type { Metrics } from './metrics/metrics.ts';
import { countTokens, observeWorkstreams } from './observer.ts';
import { Exports } from './portable/exports.ts';
import { Imports } from './portable/imports.ts';
import { type RecoveryDeps, recoverConversations } from './recover-conversations.ts';
import { Approvals } from './runs/approvals.ts';
import { Runs } from './runs/runs.ts';
import { Sharing } from './sharing/sharing.ts';
import { createViews } from './streams/create-views.ts';
import { WorkstreamStreams } from './streams/workstream-streams.ts';
import { Titles } from './titles/titles.ts';
import { HiddenWorkstreams } from './workstreams/hidden-workstreams.ts';
import { createSessionList } from './workstreams/session-list.ts';
import { Settings } from './workstreams/settings.ts';
import { Workstreams } from './workstreams/workstreams.ts';

/** What conversations share with the rest of the gateway. */
interface SharedParts {
  broadcast: Broadcast;
  metrics: Metrics;
  idempotency: Idempotency;
  requireLease: RequireLease;
  /** Writes queued frames to clients. */
  flush(): void;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

/** Connects all parts of conversations. */
export function createConversations(deps: RecordDeps & TalkDeps & TurnDeps & RecoveryDeps, shared: SharedParts) {
  const records = createRecords(deps, shared);
  const talks = createTalks(deps, { shared, records });
  const turns = createTurns(deps, { shared, records, talks });
  return {
    records,
    talks,
    turns,
    recover() {
      const { events, budgets, coordinators } = records;
      const { workstreams, unseenRuns } = talks;
      return recoverConversations(deps, { events, budgets, coordinators, workstreams, unseenRuns, runs: turns.runs });
    },
  };
}
export type Conversations = ReturnType<typeof createConversations>;

type Records = ReturnType<typeof createRecords>;

type TalkDeps = Pick<
  GatewayDeps,
  | 'store'
  | 'models'
  | 'toolbox'
  | 'hooks'
  | 'surroundings'
  | 'workdirs'
  | 'notSandboxed'
  | 'outputChecks'
  | 'background'
  | 'memories'
  | 'skills'
  | 'live'
  | 'channelServices'
  | 'nodes'
  | 'auth'
  | 'authenticator'
  | 'server'
  | 'tracing'
  | 'clock'
  | 'ids'
  | 'log'
>;

interface BeforeTalks {
  shared: Pick<SharedParts, 'broadcast' | 'metrics' | 'requireLease' | 'stopping'>;
  records: Pick<
    Records,
    | 'events'
    | 'messages'
    | 'notes'
    | 'attachments'
    | 'always'
    | 'budgets'
    | 'windows'
    | 'templates'
    | 'rules'
    | 'judge'
    | 'checkpoints'
    | 'coordinators'
  >;
}

/** The open workstreams, and the receivers of their events. */
function createTalks(
  {
    store,
    models,
    toolbox,
    hooks,
    surroundings,
    workdirs,
    notSandboxed,
    outputChecks,
    background,
    memories,
    skills,
    live,
    channelServices,
    nodes,
    auth,
    authenticator,
    server,
    tracing,
    clock,
    ids,
    log,
  }: TalkDeps,
  { shared, shared: { stopping, requireLease, metrics }, records }: BeforeTalks,
) {
  const { events, messages, notes, attachments, always, budgets, windows, templates, rules, judge } = records;
  const { unseenRuns, agentEvents, global } = createViews({ events, clock }, shared);
  const onUsage = ({ usage }: Spending) => countTokens(metrics, usage);
  const childNews = records.coordinators.news;
  const titles = new Titles({ store, messages, models, budgets, live, onUsage, stopping, clock, ids, log });
  const wakes = { onFree: () => void workstreams.trim(), outbox: () => outbox, onSessions: () => sessions.refresh() };
  const observer = observeWorkstreams(shared, { agentEvents, unseenRuns, global, childNews, events, titles, ...wakes });
  const hidden = new HiddenWorkstreams({ store, log });
  const workstreams: Workstreams = new Workstreams({
    store,
    models,
    toolbox,
    hooks,
    workdirs,
    notSandboxed,
    outputChecks,
    background,
    memories,
    skills: skills.usable,
    live,
    always,
    budgets,
    events,
    tracing,
    stopping,
    clock,
    ids,
    log,
    observer,
    loadContext: contextLoader({ store, templates, messages }),
    readNumbered: (data) => messages.numbered(data),
    windows,
    surroundings,
    templates,
    rules,
    judge,
    checkpoints: records.checkpoints.runs,
    coordinators: createRunCoordinators(records.coordinators),
    nodeId: server.nodeId,
    attachments,
    onLoaded: observer.onLoaded,
    onUnloaded: observer.onUnloaded,
    onRemoved: () => sweepRemoved(records, wakes.onSessions),
    hidden,
  });
  const sessions = createSessionList({ workstreams, store, models, always, rules, log });
  const outbox = createOutbox(
    { store, channelServices, nodes, memories, auth, authenticator, server, metrics, clock, ids, log },
    workstreams,
  );
  const snapshots = createSnapshots({ messages, notes, events, background: background.commands });
  return {
    workstreams,
    hidden,
    sessions,
    outbox,
    snapshots,
    exports: new Exports({ store, workstreams, messages, notes, attachments }),
    streams: new WorkstreamStreams({ workstreams, snapshots, global, events, unseenRuns, requireLease }),
    global,
    unseenRuns,
    titles,
  };
}
type Talks = ReturnType<typeof createTalks>;

type TurnDeps = ScheduleDeps &
  Pick<GatewayDeps, 'models' | 'toolServers' | 'background' | 'skills' | 'workdirs' | 'auth' | 'tracing'>;

interface BeforeTurns {
  shared: Pick<SharedParts, 'broadcast'>;
  records: Pick<
    Records,
    | 'events'
    | 'messages'
    | 'attachments'
    | 'always'
    | 'budgets'
    | 'systemEvents'
    | 'windows'
    | 'templates'
    | 'rules'
    | 'checkpoints'
    | 'coordinators'
  >;
  talks: Pick<Talks, 'workstreams' | 'hidden' | 'outbox' | 'streams'>;
}

/** Everything that starts turns: people, programs, heartbeats and jobs. */
function createTurns(deps: TurnDeps, { shared, records, talks }: BeforeTurns) {
  const { store, models, toolbox, workdirs, live, auth, tracing, clock, ids, log } = deps;
  const { events, messages, attachments, always, budgets, windows, templates, systemEvents, checkpoints } = records;
  const { workstreams, hidden, streams } = talks;
  const runs = new Runs({ store, workstreams, ids, queued: systemEvents, tracing });
  records.coordinators.connect({ workstreams, runs });
  const settings = new Settings({ store, workstreams, models, always, clock });
  const rewinds = new Rewinds({ store, messages, runs, checkpoints, clock });
  const forks = new Forks({ workstreams, messages, clock, ids });
  const imports = new Imports({ store, workstreams, attachments, models, workdirs, live, clock, ids });
  const told = { events, streams, childNews: records.coordinators.news, broadcast: shared.broadcast };
  const sharing = new Sharing({ workstreams, users: auth.users, store, clock, push: talks.outbox.push, ...told });
  const compactions = createCompactions({ store, models, toolbox, clock, ids, log }, records);
  const saved = createSavedWorkstreams({ store, models, workstreams });
  const commands = new Commands({
    store,
    saved,
    messages,
    budgets,
    windows,
    templates,
    settings,
    rewinds,
    forks,
    compactions,
    live,
    hidden,
    runs,
    models,
    toolbox,
    toolServers: deps.toolServers,
    background: deps.background,
    skills: deps.skills.usable,
    clock,
    ids,
    log,
  });
  const { heartbeats, cron } = createSchedules(deps, {
    broadcast: shared.broadcast,
    systemEvents,
    workstreams,
    channels: talks.outbox.channels,
    runs,
    commands,
  });
  return {
    runs,
    settings,
    rewinds,
    forks,
    imports,
    sharing,
    commands,
    saved,
    heartbeats,
    cron,
    approvals: new Approvals({ workstreams, store, rules: records.rules }),
  };
}
