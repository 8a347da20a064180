import type { StreamEvent } from '../../protocol/stream-events.ts';
import type { Boot, Disk, Evidence } from '../checker/evidence.ts';
import { viewsOf } from '../checker/views.ts';

/** The counts of a drill. */
export interface Score {
  rounds: number;
  kills: number;
  /** The kills before the daemon was ready. */
  killsAtStart: number;
  /** Of the server of the database. */
  databaseKills: number;
  connections: number;
  /** Connections that their reader or a byte limit broke while the daemon was running. */
  cuts: number;
  /** Connections that resumed exactly. */
  resumes: number;
  /** Events that clients saw, each compared with the log. */
  eventsSeen: number;
  calls: number;
  /** Calls whose answer was lost. */
  unanswered: number;
  eventsOnDisk: number;
  /** The rows that hold them. */
  eventRows: number;
  runs: number;
  approvals: number;
  /** Rules given with a decision, calls denied although others of their question were approved, and calls that a rule blocked. */
  rulesGiven: number;
  deniedAlone: number;
  blocked: number;
  toolStarts: number;
  unknownOutcomes: number;
  effects: number;
  /** Messages that steered a run, and those of them that a run took. */
  steered: number;
  taken: number;
  /** Questions about used-up budgets, and those that were approved, declined, or not answered in time. */
  budgetQuestions: number;
  granted: number;
  declined: number;
  expired: number;
  /** Turns taken back, and turns answered again. */
  rewinds: number;
  retries: number;
  /** Sub-agents, and those that were cancelled alone; questions about plans, watches, and memories. */
  subAgents: number;
  cancelledAlone: number;
  plans: number;
  watches: number;
  memories: number;
  /** The workstreams that coordinators had made, and the messages that they got. */
  children: number;
  childMessages: number;
  compactions: number;
  violations: number;
  /** From the start of a process to its first served request. */
  recoveryMs: { p50: number; p99: number; worst: number };
}

export type Tally = Pick<Score, 'connections' | 'resumes' | 'eventsSeen' | 'calls' | 'unanswered'>;

export const NOTHING_SEEN: Tally = { connections: 0, resumes: 0, eventsSeen: 0, calls: 0, unanswered: 0 };

/** The actions of clients in this evidence. */
export function tallyOf(evidence: Evidence, { ...tally }: Tally): Tally {
  const views = viewsOf(evidence);
  tally.connections += evidence.streams.length + evidence.sockets.length;
  tally.resumes += views.filter(({ opening }) => opening.recovered).length;
  tally.eventsSeen += views.reduce((sum, { seen }) => sum + seen.length, 0);
  tally.calls += evidence.calls.length;
  tally.unanswered += evidence.calls.filter(({ answers }) => answers.length === 0).length;
  return tally;
}

/** The final contents of the database. */
export function storedIn({ workstreams, memories }: Disk) {
  const runs = workstreams.flatMap((workstream) => workstream.runs);
  const approvals = workstreams.flatMap((workstream) => workstream.approvals);
  const cuts = workstreams.flatMap((workstream) => workstream.cuts);
  const events = workstreams.flatMap((workstream) => workstream.events.map(({ event }) => event));
  const rewound = events.filter((event) => event.type === 'rewound');
  const steering = runs.map(({ run }) => JSON.parse(run.request_json)).filter(({ steer }) => steer);
  return {
    steered: steering.length,
    taken: steering.filter(({ steeredInto }) => steeredInto !== undefined).length,
    eventsOnDisk: events.length,
    eventRows: workstreams.reduce((sum, { eventRows }) => sum + eventRows, 0),
    runs: runs.length,
    approvals: approvals.length,
    toolStarts: runs.flatMap(({ journal }) => journal.filter(({ kind }) => kind === 'tool_started')).length,
    ...besidesIn(workstreams),
    memories: memories.length,
    ...rulingsIn(events),
    ...budgetsIn(approvals),
    unknownOutcomes: approvals.filter(({ kind }) => kind === 'outcome').length,
    rewinds: rewound.filter(({ reason }) => reason === 'rewind').length,
    retries: rewound.filter(({ reason }) => reason === 'retry').length,
    compactions: cuts.filter(({ kind }) => kind === 'compaction').length,
  };
}

function besidesIn(workstreams: Disk['workstreams']) {
  const agents = workstreams.flatMap((workstream) => workstream.agents);
  const children = workstreams.filter(({ madeBy }) => madeBy !== undefined);
  return {
    subAgents: agents.length,
    cancelledAlone: agents.filter(({ state }) => state.cancelled_by !== undefined).length,
    plans: workstreams.flatMap(({ approvals }) => approvals.filter(({ kind }) => kind === 'plan')).length,
    watches: workstreams.flatMap(({ watches }) => watches).length,
    children: children.length,
    childMessages: children.flatMap(({ runs }) => runs).length,
  };
}

function rulingsIn(events: readonly StreamEvent[]) {
  const resolved = events.filter((event) => event.type === 'approval_resolved');
  return {
    rulesGiven: resolved.flatMap(({ rule_ids = [] }) => rule_ids).length,
    deniedAlone: resolved.flatMap(({ denied_call_ids = [] }) => denied_call_ids).length,
    blocked: events.filter((event) => event.type === 'tool_result' && event.outcome === 'blocked').length,
  };
}

function budgetsIn(approvals: Disk['workstreams'][number]['approvals']) {
  const questions = approvals.filter(({ kind }) => kind === 'budget');
  const withStatus = (wanted: string) => questions.filter(({ status }) => status === wanted).length;
  return {
    budgetQuestions: questions.length,
    granted: withStatus('approved'),
    declined: withStatus('denied'),
    expired: withStatus('expired'),
  };
}

export function recoveryOf(boots: readonly Boot[]): Score['recoveryMs'] {
  return sharesOf(boots.flatMap(({ spawnedMs, readyMs }) => (readyMs === undefined ? [] : [readyMs - spawnedMs])));
}

/** What half of some durations, 99 percent of them, and all of them do not exceed. */
export function sharesOf(durations: readonly number[]): Score['recoveryMs'] {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), worst: at(1) };
}

export function toScoreCard({ recoveryMs, ...score }: Score): string {
  const { p50, p99, worst } = recoveryMs;
  const rows: [string, string | number][] = [
    ['rounds', score.rounds],
    ['kills', `${score.kills} (${score.killsAtStart} while starting), ${score.databaseKills} of the database`],
    ['connections', `${score.connections} (${score.cuts} cut, ${score.resumes} continued)`],
    ['events seen', `${score.eventsSeen} (${score.eventsOnDisk} on disk, in ${score.eventRows} rows)`],
    ['calls', `${score.calls} (${score.unanswered} without an answer)`],
    ['runs', score.runs],
    ['approvals', `${score.approvals} (${score.unknownOutcomes} about unknown outcomes)`],
    ['rules', `${score.rulesGiven} given, ${score.deniedAlone} calls denied alone, ${score.blocked} blocked`],
    ['tool starts', `${score.toolStarts} (${score.effects} lines written by commands)`],
    ['steered', `${score.steered} messages (${score.taken} taken by a run in progress)`],
    [
      'budgets',
      `${score.budgetQuestions} questions (${score.granted} approved, ${score.declined} declined, ${score.expired} expired)`,
    ],
    ['children', `${score.children} of coordinators (${score.childMessages} messages)`],
    ['sub-agents', `${score.subAgents} (${score.cancelledAlone} cancelled alone)`],
    ['further', `${score.plans} plans, ${score.watches} watches, ${score.memories} memories`],
    ['taken back', `${score.rewinds} times, ${score.retries} retries, ${score.compactions} summaries`],
    ['ready after', `${p50} ms (p50), ${p99} ms (p99), ${worst} ms (worst)`],
    ['violations', score.violations],
  ];
  return rows.map(([name, value]) => `${name.padEnd(14)}${value}\n`).join('');
}
