import { backgroundNouns } from './background/background-noun.ts';
import type { Handlers, ServedMethod } from './call.ts';
import { checkpointNoun } from './checkpoints/checkpoint-noun.ts';
import type { Cluster } from './cluster/cluster.ts';
import { clusterMethods } from './cluster/cluster-methods.ts';
import { createDaemonSettings } from './configuration/daemon-settings.ts';
import type { Broadcast } from './connections/broadcast.ts';
import { sweepRemoved } from './conversations/sweep-removed.ts';
import type { Conversations } from './conversations.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { Health } from './health.ts';
import type { Idempotency } from './idempotency.ts';
import { createExpiredWorkstreams } from './listing/expired-workstreams.ts';
import { mcpNoun } from './mcp/mcp-noun.ts';
import { assessmentMethods } from './methods/admin/assessment.ts';
import { policyMethods } from './methods/admin/policy.ts';
import { ruleMethods } from './methods/admin/rule.ts';
import { settingsMethods } from './methods/admin/settings.ts';
import { verdictMethods } from './methods/admin/verdict.ts';
import { agentMethods } from './methods/agent.ts';
import { approvalMethods } from './methods/approval.ts';
import { chatMethods } from './methods/chat.ts';
import { type AffectedParts, configMethods } from './methods/config.ts';
import { planMethods } from './methods/conversation/plan.ts';
import { subAgentMethods } from './methods/conversation/sub-agent.ts';
import { eventsMethods } from './methods/events.ts';
import { healthMethods } from './methods/health.ts';
import { logsMethods } from './methods/logs.ts';
import { memoryMethods } from './methods/memory.ts';
import { modelsMethods } from './methods/models.ts';
import { nodeMethods } from './methods/node.ts';
import { sessionsMethods } from './methods/sessions.ts';
import { statusMethods } from './methods/status.ts';
import { systemMethods } from './methods/system.ts';
import { templateMethods } from './methods/templates/template.ts';
import { wstemplateMethods } from './methods/templates/wstemplate.ts';
import { wakeMethods } from './methods/wake.ts';
import { workstreamMethods } from './methods/workstream.ts';
import { accountNouns } from './nouns/account-nouns.ts';
import { type ChannelNouns, chatNouns } from './nouns/channel-nouns.ts';
import { jobNouns } from './nouns/job-nouns.ts';
import { partNouns } from './nouns/part-nouns.ts';
import { skillNouns } from './nouns/skill-nouns.ts';
import type { Presence } from './presence/presence.ts';
import { createViewers } from './presence/viewers.ts';
import type { Store } from './store/store.ts';
import type { Templates } from './templates/templates.ts';
import type { Placing } from './workers/team.ts';
import { announceAlwaysEnds } from './workstreams/announce-always-ends.ts';
import { Folders } from './workstreams/folders.ts';
import { createProjectCommands } from './workstreams/project-commands.ts';

/** One noun of the gateway: its methods and, where needed, its background work. */
interface Noun {
  methods?: object;
  /** Reconciles what the previous process left. */
  recover?(): Promise<unknown>;
  /** Runs until aborted. */
  run?(signal: AbortSignal): Promise<unknown>;
  /** Stops work in a way that a restart can continue. */
  close?(): Promise<unknown>;
  /** Workers do not recover and run it: the active daemon does it for all. */
  once?: true;
}

type NounDeps = Pick<
  GatewayDeps,
  | 'store'
  | 'shared'
  | 'storePath'
  | 'models'
  | 'outputChecks'
  | 'nodes'
  | 'toolServers'
  | 'mcpAdmin'
  | 'notSandboxed'
  | 'clean'
  | 'workspace'
  | 'workdirs'
  | 'projectCommands'
  | 'live'
  | 'auth'
  | 'configFile'
  | 'logRing'
  | 'readOutput'
  | 'background'
  | 'memories'
  | 'skills'
  | 'killLeftover'
  | 'lastAliveMs'
  | 'hostTimeZone'
  | 'server'
  | 'restart'
  | 'clock'
  | 'ids'
  | 'log'
>;

/** The parts that nouns share with the sockets. */
interface SharedWithSockets extends Placing {
  broadcast: Broadcast;
  presence: Presence;
  health: Health;
  idempotency: Idempotency;
  cluster: Cluster;
  chats: ChannelNouns;
}

/**
 * Lists every noun, in the order in which they recover. A protocol method without a handler does not compile.
 *
 * A noun is one entry. If it has state, the entry creates it: `x: createX({ … })`. Only state that another noun or the
 * sockets use needs a second line, in `conversations.ts` or `gateway.ts`, because it must exist before its users.
 */
export function joinNouns(
  deps: NounDeps,
  conversations: Conversations,
  { broadcast, presence, health, idempotency, cluster, chats, placement, waiting }: SharedWithSockets,
): JoinedNouns {
  const { records, talks, turns } = conversations;
  const { store, shared, storePath, models, nodes, outputChecks, auth } = deps;
  const { logRing, clock, ids, log } = deps;
  const { events, messages, always, attachments, systemEvents, windows, templates, policies, rules, checkpoints } =
    records;
  const { workstreams, sessions, snapshots } = talks;
  const { channels } = chats;
  const { runs, settings, commands, heartbeats, cron, approvals, sharing } = turns;
  const viewers = createViewers({ workstreams, sharing, broadcast });
  return join(store.machine, {
    ...chatNouns(chats),
    ...accountNouns(auth, ids),
    // Before the workstreams, whose runs need them.
    policy: { methods: policyMethods({ policies, store, messages }), recover: () => policies.load() },
    assessment: { methods: assessmentMethods({ store }) },
    verdict: { methods: verdictMethods({ store }) },
    mcp: mcpNoun(deps),
    rule: {
      methods: ruleMethods({ rules, workstreams, store, messages }),
      recover: () => rules.load(),
      run: (signal) => rules.run(signal),
    },
    checkpoint: checkpointNoun({ checkpoints, workstreams, workdirs: deps.workdirs }),
    ...templateNouns(templates),
    ...skillNouns(deps.skills, { templates, workstreams }),
    ...configNouns(deps, { cron, workstreams, channels: chats }),
    ...clusterNouns({ cluster, shared, clock }),
    agent: { methods: agentMethods({ workstreams, runs, channels, outputChecks, store, messages, clock }) },
    approval: { methods: approvalMethods(approvals) },
    plan: { methods: planMethods({ workstreams, approvals }) },
    always: { run: (signal) => announceAlwaysEnds({ workstreams, always, store, clock, log }, signal) },
    ...backgroundNouns(deps, conversations),
    subAgent: { methods: subAgentMethods({ workstreams, store, clock }) },
    attachments: { once: true, recover: () => attachments.sweep(), run: (signal) => attachments.run(signal) },
    chat: { methods: chatMethods({ workstreams, runs, messages, attachments, outputChecks, channels, store }) },
    ...jobNouns(deps, { cron, channels, placement }),
    events: { methods: eventsMethods({ workstreams, snapshots, events, viewers }) },
    health: { methods: healthMethods(health), run: (signal) => health.run(signal) },
    idempotency: { once: true, run: (signal) => idempotency.run(signal) },
    logs: { methods: logsMethods({ logRing }) },
    models: { methods: modelsMethods({ models, windows, clock }), recover: () => windows.load() },
    memory: { methods: memoryMethods(deps.memories) },
    node: { once: true, methods: nodeMethods({ nodes, broadcast, clock }), run: (signal) => nodes.run(signal) },
    ...partNouns(deps, conversations),
    retention: retentionNoun(deps, { sessions, attachments, checkpoints, rules }),
    sessions: {
      methods: sessionsMethods({ workstreams, sessions, settings, commands, messages, models, storePath, clock }),
    },
    status: { methods: statusMethods({ sessions, models, storePath, heartbeats, systemEvents, chats, store, clock }) },
    system: { once: true, methods: systemMethods({ presence, systemEvents }), recover: () => systemEvents.load() },
    workstream: workstreamNoun(deps, conversations, { health, placement, waiting }),
    wake: {
      once: true,
      methods: wakeMethods({ systemEvents, heartbeats, store, broadcast }),
      recover: () => cron.main.takeLeft().then(() => heartbeats.recover()),
      run: (signal) => heartbeats.run(signal),
    },
  });
}

/** The configuration as a whole, and its settings one by one. */
const configNouns = ({ store, auth, configFile, clock }: NounDeps, affected: AffectedParts) => ({
  config: { methods: configMethods({ configFile, affected, store }) },
  settings: {
    methods: settingsMethods({
      settings: createDaemonSettings({ configFile, trail: auth.trail, clock }),
      store,
      affected,
      users: auth.users,
    }),
  },
});

/** Workstreams with everything that callers do in them. */
const workstreamNoun = (
  { store, models, server, workdirs, projectCommands, live }: NounDeps,
  { records, talks, turns, recover }: Conversations,
  { health, placement, waiting }: Pick<SharedWithSockets, 'health' | 'placement' | 'waiting'>,
) => ({
  methods: workstreamMethods({
    workstreams: talks.workstreams,
    runs: turns.runs,
    approvals: turns.approvals,
    commands: turns.commands,
    projectCommands: createProjectCommands({ files: projectCommands, runs: turns.runs, store }),
    settings: turns.settings,
    rewinds: turns.rewinds,
    forks: turns.forks,
    exports: talks.exports,
    imports: turns.imports,
    always: records.always,
    folders: new Folders({ store, workdirs }),
    snapshots: talks.snapshots,
    saved: turns.saved,
    messages: records.messages,
    notes: records.notes,
    attachments: records.attachments,
    coordinators: records.coordinators,
    events: records.events,
    templates: records.templates,
    budgets: records.budgets,
    sharing: turns.sharing,
    live,
    titles: talks.titles,
    store,
    models,
    health,
    placement,
    waiting,
    nodeId: server.nodeId,
  }),
  recover,
  close: () => talks.workstreams.shutdown(),
});

/** Conversations that nobody uses any more. */
const retentionNoun = (
  { store, live, auth, clock, ids, log }: NounDeps,
  {
    sessions,
    ...swept
  }: Pick<Conversations['talks'], 'sessions'> & Pick<Conversations['records'], 'attachments' | 'checkpoints' | 'rules'>,
) =>
  createExpiredWorkstreams({
    store,
    live,
    trail: auth.trail,
    onRemoved: () => sweepRemoved(swept, () => sessions.refresh()),
    clock,
    ids,
    log,
  });
/** The machines. */
const clusterNouns = (deps: Parameters<typeof clusterMethods>[0]) => ({
  cluster: { methods: clusterMethods(deps) },
});

/** What conversations begin with. */
const templateNouns = (templates: Templates) => ({
  template: { methods: templateMethods(templates.prompts) },
  wstemplate: { methods: wstemplateMethods(templates) },
});

export interface JoinedNouns {
  handlers: Handlers;
  /** Recovers the nouns one after another. */
  recover(): Promise<void>;
  /** Runs the background work of all nouns, until aborted. */
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

type AnsweredBy<N> = N extends { methods: infer M } ? keyof M : never;
type Unanswered<N extends Record<string, Noun>> = Exclude<ServedMethod, AnsweredBy<N[keyof N]>>;

/** The handlers, if they cover every method of the protocol; otherwise the names of the missing methods. */
type Whole<N extends Record<string, Noun>> = [Unanswered<N>] extends [never]
  ? Handlers
  : { nobodyAnswers: Unanswered<N> };

function join<const N extends Record<string, Noun>>(
  machine: Store['machine'],
  nouns: N,
): Omit<JoinedNouns, 'handlers'> & { handlers: Whole<N> } {
  const all: Noun[] = Object.values(nouns);
  const working = machine === null ? all : all.filter(({ once }) => !once);
  return {
    handlers: Object.assign({}, ...all.map(({ methods }) => methods)),
    async recover() {
      for (const noun of working) await noun.recover?.();
    },
    async run(signal) {
      await Promise.all(working.map((noun) => noun.run?.(signal)));
    },
    async close() {
      await Promise.all(all.map((noun) => noun.close?.()));
    },
  };
}
