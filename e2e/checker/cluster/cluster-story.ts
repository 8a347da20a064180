import type { ApprovalTable, RunTable } from '../../../src/gateway/store/schema/schema.ts';
import type { CallHistory, Logged, StreamHistory, WorkstreamOnDisk } from '../evidence.ts';
import { ACTIVE, type ClusterEvidence, movingFrom, type Write } from './cluster-evidence.ts';
import { DAEMON_LEASE } from './owner-rules.ts';

/** They hold the lease of the database one after the other. */
const LEADS = ['one', 'two', 'three'];
/** In the order of the story, `four` is lost while `three` is active. */
const WORKERS = ['four', 'five'];

/** The workstream of the active daemons, and those of the workers. */
const WORKSTREAMS = ['w', 'w-four', 'w-five'];

/**
 * Correct evidence: three daemons are active, one after the other, beside two workers. Each accepts a message, and each question is
 * decided twice. One worker is lost, and the last active daemon takes its workstream over. That of the other one moves, and comes back.
 */
export function clusterStory(): ClusterEvidence {
  return {
    story: {
      disk: { epoch: 'e', workstreams: WORKSTREAMS.map(talkOf), usage: [], grants: [], memories: [] },
      calls: WORKSTREAMS.flatMap((wsId) => LEADS.flatMap((name) => callsAbout(wsId, name))),
      streams: WORKSTREAMS.map(streamOf),
      ...{ sockets: [], effects: [], boots: [], memory: { budgetBytes: 0, samples: [] }, secrets: [], artefacts: [] },
      settled: true,
    },
    writes: [
      ...LEADS.flatMap(writesOfLead),
      ...WORKERS.flatMap(writesOfWorker),
      ...TAKE_OVER.map(writeInTakeOver),
      ...MOVES,
    ],
    placements: [{ wsId: 'w', machine: ACTIVE }, ...WORKERS.map((machine) => ({ wsId: `w-${machine}`, machine }))],
    recoveries: [...LEADS, ...WORKERS, 'all workstreams'].map((machine) => ({
      ...{ round: 1, faults: 'kill worker', machine, attempts: 40, tookMs: 9_000, isServed: true },
    })),
    ends: [
      { machine: 'one', code: null, isAsked: true, stderr: '' },
      { machine: 'two', code: 1, isAsked: false, stderr: 'Another daemon has taken over, because' },
    ],
    states: [
      ...LEADS.map((machine) => ({
        ...{ machine, isWorker: false },
        state: machine === 'three' ? ('active' as const) : ('standby' as const),
      })),
      ...WORKERS.map((machine) => ({ machine, isWorker: true, state: 'worker' as const })),
    ],
  };
}

const TABLES = ['events', 'runs'];

/** The lease of `four` ends before the write 260. */
const epochsAt = (number: number) => ({
  ...{ [DAEMON_LEASE]: Math.min(3, Math.floor(number / 100) + 1), five: 1 },
  four: number < 260 ? 1 : 2,
});

function writeOf(
  machine: string,
  { first, last, ...where }: Pick<Write, 'first' | 'last' | 'table' | 'wsId' | 'session'> & { owner: string },
): Write {
  const lease = WORKERS.includes(machine) ? machine : DAEMON_LEASE;
  const epochs: Record<string, number> = epochsAt(first);
  return { ...where, first, last, machine, lease, holder: machine, epoch: epochs[lease] ?? 0, epochs };
}

const writesOfLead = (machine: string, index: number): Write[] =>
  TABLES.map((table, place) => {
    const first = 100 * index + 10 * place + 1;
    return writeOf(machine, { first, last: first + 50, table, wsId: 'w', session: `s${index}`, owner: ACTIVE });
  });

const writesOfWorker = (machine: string): Write[] =>
  TABLES.flatMap((table, place) =>
    [20, 120].map((from) => {
      const at = { first: from + place, last: from + place + 60, table, wsId: `w-${machine}` };
      return writeOf(machine, { ...at, session: `s-${machine}`, owner: machine });
    }),
  );

const TAKE_OVER = [
  { first: 262, last: 262, table: 'workstreams', owner: movingFrom('four') },
  { first: 263, last: 264, table: 'runs', owner: movingFrom('four') },
  { first: 265, last: 265, table: 'workstreams', owner: ACTIVE },
  { first: 266, last: 290, table: 'events', owner: ACTIVE },
];

const writeInTakeOver = (at: (typeof TAKE_OVER)[number]): Write =>
  writeOf('three', { ...at, wsId: 'w-four', session: 's2' });

/** What `five` has moves to the active daemon, and back. */
const MOVES = [
  { first: 182, last: 182, machine: 'five', table: 'workstreams', owner: 'five' },
  { first: 183, last: 186, machine: 'two', table: 'events', owner: ACTIVE },
  { first: 187, last: 187, machine: 'two', table: 'workstreams', owner: ACTIVE },
  { first: 188, last: 199, machine: 'five', table: 'events', owner: 'five' },
].map(({ machine, ...at }) =>
  writeOf(machine, { ...at, wsId: 'w-five', session: machine === 'five' ? 's-five' : 's1' }),
);

const nameIn = (wsId: string, name: string): string => `${wsId} ${name}`;

const talkOf = (wsId: string): WorkstreamOnDisk => ({
  ...{ wsId, name: wsId, messageCount: 0, runEpoch: 0, events: logOf(), eventRows: LOG_LENGTH, messages: [] },
  ...{ cuts: [], agents: [], watches: [] },
  // The rules read no other columns of these.
  runs: LEADS.map((name) => {
    const request = JSON.stringify({ message: nameIn(wsId, name) });
    const run = { run_id: `run_${wsId}_${name}`, ws_id: wsId, request_json: request, status: 'ok', ended_ms: 9 };
    return { run: run as RunTable, journal: [] };
  }),
  approvals: LEADS.map((name) => {
    const row = { approval_id: `ask_${wsId}_${name}`, kind: 'tool', status: 'approved', feedback: '' };
    return row as unknown as ApprovalTable;
  }),
});

const LOG_LENGTH = 6;

const logOf = (): Logged[] =>
  Array.from({ length: LOG_LENGTH }, (_, index) => ({
    offset: index + 1,
    event: { type: 'info', message: `event ${index + 1}` },
  }));

/** A client that followed the log from its beginning, wherever the workstream was. */
const streamOf = (wsId: string): StreamHistory => ({
  ...{ reader: `reader of ${wsId}`, wsId, isOpen: true },
  frames: [
    { data: { type: 'connected' } },
    { id: 'e:0', data: { type: 'history', messages: [] } },
    ...logOf().map(({ offset, event }) => ({ id: `e:${offset}`, data: event })),
  ] as StreamHistory['frames'], // the rules read nothing else of the first two
});

function callsAbout(wsId: string, name: string): CallHistory[] {
  const approvalId = `ask_${wsId}_${name}`;
  const message = nameIn(wsId, name);
  const call = (method: string, params: object, answer: object): CallHistory => ({
    ...{ method, params: { wsId, ...params }, sentMs: 1 },
    answers: [{ atMs: 2, ok: true, ...answer }],
  });
  return [
    call('workstream.send', { message }, { payload: { runId: `run_${wsId}_${name}` } }),
    call('workstream.approve', { approvalId, approved: true }, {}),
    call('approval.resolve', { approvalId, approved: false }, { ok: false, code: 'CONFLICT' }),
  ];
}
