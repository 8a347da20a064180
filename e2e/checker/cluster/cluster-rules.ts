import { applyRules } from '../apply-rules.ts';
import type { CallHistory, Finding, Violation } from '../evidence.ts';
import { firstRuns, messageOf } from '../rules/answers.ts';
import { ACTIVE, type ClusterEvidence, type ProcessEnd, type Write } from './cluster-evidence.ts';
import { endedWorkersWriteNothing, oneOwner, oneWriter, ownersWriteRows, placedWhereAsked } from './owner-rules.ts';
import { placeOf } from './place-of.ts';

type ClusterRule = (evidence: ClusterEvidence) => Iterable<Finding>;

/** Every rule about several daemons, by the sentence it checks. */
export const CLUSTER_RULES = {
  'only the holder of a lease writes': holdersWrite,
  'an epoch has one holder': oneHolder,
  'a session writes in one epoch': oneEpoch,
  'nothing is written in an older epoch': epochsRise,
  'only the owner of a workstream writes its rows': ownersWriteRows,
  'a workstream has one owner at a time': oneOwner,
  'a log has one writer at a time': oneWriter,
  'a lost worker writes nothing after its end': endedWorkersWriteNothing,
  'a workstream is where its creator was told': placedWhereAsked,
  'one decision wins': oneWinner,
  'a call without a key has one effect': oneEffect,
  'clients get on after a fault': clientsGetOn,
  'one daemon is active at rest': oneActive,
  'a daemon ends only for a reason that it names': endsForReason,
} as const satisfies Record<string, ClusterRule>;

export type ClusterRuleName = keyof typeof CLUSTER_RULES;

/** All violations of rules about several daemons. */
export const checkCluster = (evidence: ClusterEvidence): Violation[] => applyRules(CLUSTER_RULES, evidence);

/** The active daemon needs the lease of the database, and each worker its own one. */
function* holdersWrite({ writes }: ClusterEvidence): Generator<Finding> {
  for (const write of writes) {
    const { machine, lease, holder, epoch } = write;
    if (machine === holder) continue;
    yield {
      what: `${machine} wrote while ${holder} held the lease "${lease}" (epoch ${epoch})`,
      where: placeOf(write),
    };
  }
}

function* oneHolder({ writes }: ClusterEvidence): Generator<Finding> {
  for (const [epoch, own] of Map.groupBy(writes, (write) => `lease "${write.lease}", epoch ${write.epoch}`)) {
    const holders = [...new Set(own.map(({ holder }) => holder))];
    if (holders.length > 1) yield { what: `was held by ${holders.join(' and ')}`, where: epoch };
  }
}

/** A session belongs to a process, and a process that lost its lease has to connect again to get another one. */
function* oneEpoch({ writes }: ClusterEvidence): Generator<Finding> {
  for (const [session, own] of Map.groupBy(writes, (write) => write.session)) {
    const epochs = [...new Set(own.map(({ lease, epoch }) => `${epoch} of the lease "${lease}"`))];
    if (epochs.length > 1) yield { what: `wrote in the epochs ${epochs.join(' and ')}`, where: `session ${session}` };
  }
}

/** A lease is taken only when the transactions of its former holder have ended. */
function* epochsRise({ writes }: ClusterEvidence): Generator<Finding> {
  for (const own of Map.groupBy(writes, (write) => write.lease).values()) yield* epochsOfLeaseRise(own);
}

function* epochsOfLeaseRise(writes: readonly Write[]): Generator<Finding> {
  let lowest = Number.POSITIVE_INFINITY;
  for (const [epoch, own] of [...Map.groupBy(writes, (write) => write.epoch)].sort(([one], [other]) => other - one)) {
    for (const write of own)
      if (write.last > lowest) yield { what: `epoch ${epoch} wrote after a newer one`, where: placeOf(write) };
    lowest = own.reduce((least, { first }) => Math.min(least, first), lowest);
  }
}

/** A decision has no key, so a second one is late, whatever it says and wherever it was sent. */
function* oneWinner({ story: { calls, disk } }: ClusterEvidence): Generator<Finding> {
  const kinds = new Map(
    disk.workstreams.flatMap(({ approvals }) => approvals.map(({ approval_id: id, kind }) => [id, kind] as const)),
  );
  const accepted = calls.filter(
    ({ params, answers }) => params.approvalId !== undefined && answers.some(({ ok }) => ok),
  );
  for (const [id = '', own] of Map.groupBy(accepted, ({ params }) => params.approvalId)) {
    if (own.length > 1 && kinds.get(id) !== 'budget')
      yield { what: `${own.length} decisions were accepted`, where: `${own[0]?.params.wsId} ${id}` };
  }
}

const isUnkeyed = ({ method, params }: CallHistory): boolean =>
  method === 'workstream.send' && params.idempotencyKey === undefined && params.message !== undefined && !params.steer;

/** Nobody repeats such a call, neither its client nor a daemon that forwards it. */
function* oneEffect({ story: { calls, disk } }: ClusterEvidence): Generator<Finding> {
  const accepted = Map.groupBy(disk.workstreams.flatMap(firstRuns), (run) => `${run.ws_id} ${messageOf(run)}`);
  for (const { params } of calls.filter(isUnkeyed)) {
    const where = `${params.wsId} ${params.message}`;
    const count = accepted.get(where)?.length ?? 0;
    if (count > 1) yield { what: `was sent once, and ${count} runs have it`, where };
  }
}

/** How often a client may have to ask. It asks five times a second at most. */
export const MOST_ATTEMPTS = 300;

function* clientsGetOn({ recoveries }: ClusterEvidence): Generator<Finding> {
  for (const { round, faults, machine, attempts, isServed } of recoveries) {
    if (!isServed || attempts > MOST_ATTEMPTS)
      yield { what: `${machine}: no answer after ${attempts} attempts`, where: `round ${round}: ${faults}` };
  }
}

function* oneActive({ states }: ClusterEvidence): Generator<Finding> {
  const active = states.filter(({ state }) => state === ACTIVE).map(({ machine }) => machine);
  if (active.length !== 1) yield { what: `${active.length} are active: ${active.join(', ')}`, where: 'at rest' };
  for (const { machine, isWorker, state } of states)
    if (isWorker ? state !== 'worker' : state !== ACTIVE && state !== 'standby')
      yield { what: isWorker ? 'is no worker' : 'is neither active nor a standby', where: machine };
}

/** It was replaced, or the database was lost while it started; a service manager starts it again. */
const IN_WORDS = /Another daemon has taken over|could not become active again|^headgate: (?!\w*Error)[^\n]*\n$/m;

const isDue = ({ isAsked, code, stderr }: ProcessEnd): boolean =>
  isAsked || (code === 1 && IN_WORDS.test(stderr) && !/uncaught exception|unhandled promise/.test(stderr));

function* endsForReason({ ends }: ClusterEvidence): Generator<Finding> {
  for (const end of ends) {
    if (!isDue(end)) yield { what: `ended with ${end.code}: ${end.stderr.trim().slice(-600)}`, where: end.machine };
  }
}
