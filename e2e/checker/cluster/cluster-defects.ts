import type { RuleName } from '../check.ts';
import type { Random } from '../random.ts';
import type { ClusterEvidence, Write } from './cluster-evidence.ts';
import type { ClusterRuleName } from './cluster-rules.ts';
import { DAEMON_LEASE } from './owner-rules.ts';

/** A defect in correct evidence, and the rule that must find it. */
export interface ClusterDefect {
  name: string;
  /** About several daemons, or one of those that hold for one daemon, too. */
  rule: ClusterRuleName | RuleName;
  /** Changes the evidence in place. */
  apply(evidence: ClusterEvidence, random: Random): void;
}

/** Of the active daemons. */
const ownWrites = ({ writes }: ClusterEvidence): Write[] => writes.filter(({ lease }) => lease === DAEMON_LEASE);

const newestEpoch = (evidence: ClusterEvidence): number => Math.max(...ownWrites(evidence).map(({ epoch }) => epoch));
const lastNumber = ({ writes }: ClusterEvidence): number => Math.max(...writes.map(({ last }) => last));

/** Of a holder that was replaced. */
const pickFormer = (evidence: ClusterEvidence, random: Random): Write =>
  random.pick(ownWrites(evidence).filter(({ epoch }) => epoch < newestEpoch(evidence)));

/** A call with an answer that says yes. */
function pickAccepted({ story }: ClusterEvidence, random: Random, isIt: (method: string) => boolean) {
  return random.pick(story.calls.filter(({ method, answers }) => isIt(method) && answers.some(({ ok }) => ok)));
}

export const CLUSTER_DEFECTS: ClusterDefect[] = [
  {
    name: 'two daemons hold the lease at once',
    rule: 'an epoch has one holder',
    apply(evidence, random) {
      evidence.writes.push({ ...random.pick(ownWrites(evidence)), session: 'another', machine: 'six', holder: 'six' });
    },
  },
  {
    name: 'a daemon writes with a stale epoch after another one has taken over',
    rule: 'nothing is written in an older epoch',
    apply(evidence, random) {
      pickFormer(evidence, random).last = lastNumber(evidence) + 1;
    },
  },
  {
    name: 'a standby writes',
    rule: 'only the holder of a lease writes',
    apply(evidence, random) {
      const write = random.pick(ownWrites(evidence));
      write.machine = random.pick(['one', 'two', 'three'].filter((name) => name !== write.holder));
    },
  },
  {
    name: 'a paused daemon writes on its open connection under the epoch of the next holder',
    rule: 'a session writes in one epoch',
    apply(evidence, random) {
      const former = pickFormer(evidence, random);
      const [first, last] = [lastNumber(evidence) + 1, lastNumber(evidence) + 2];
      evidence.writes.push({ ...former, first, last, epoch: newestEpoch(evidence) });
    },
  },
  {
    name: 'a standby sends a request again whose answer was lost',
    rule: 'a call without a key has one effect',
    apply(evidence, random) {
      const [workstream] = evidence.story.disk.workstreams;
      const { run, journal } = random.pick(workstream?.runs ?? []);
      workstream?.runs.push({ run: { ...run, run_id: 'run_again' }, journal });
    },
  },
  {
    name: 'a decision counts at two daemons',
    rule: 'one decision wins',
    apply(evidence, random) {
      const decided = pickAccepted(evidence, random, (method) => method === 'workstream.approve');
      evidence.story.calls.push(structuredClone({ ...decided, method: 'approval.resolve' }));
    },
  },
  {
    name: 'two daemons accept contrary decisions',
    rule: 'one decision wins',
    apply({ story: { calls } }, random) {
      const late = random.pick(calls.filter(({ answers }) => answers.some(({ code }) => code === 'CONFLICT')));
      late.answers = late.answers.map(({ atMs }) => ({ atMs, ok: true }));
    },
  },
  {
    name: 'a hand-over is lost, and nobody takes the lease',
    rule: 'clients get on after a fault',
    apply({ recoveries }, random) {
      Object.assign(random.pick(recoveries), { attempts: 300, isServed: false });
    },
  },
  {
    name: 'a standby never finds the next holder',
    rule: 'clients get on after a fault',
    apply({ recoveries }, random) {
      random.pick(recoveries).attempts = 301;
    },
  },
  {
    name: 'a daemon that was replaced calls itself active',
    rule: 'one daemon is active at rest',
    apply({ states }, random) {
      random.pick(states.filter(({ state }) => state === 'standby')).state = 'active';
    },
  },
  {
    name: 'nobody is active after a hand-over',
    rule: 'one daemon is active at rest',
    apply({ states }) {
      for (const one of states) if (one.state === 'active') one.state = 'standby';
    },
  },
  {
    name: 'a daemon waits neither as a standby nor is active',
    rule: 'one daemon is active at rest',
    apply({ states }, random) {
      random.pick(states.filter(({ state }) => state === 'standby')).state = 'none';
    },
  },
  {
    name: 'a standby crashes when the database goes away',
    rule: 'a daemon ends only for a reason that it names',
    apply(evidence) {
      const stderr = 'Error: Connection terminated unexpectedly';
      evidence.ends = [...evidence.ends, { machine: 'two', code: 1, isAsked: false, stderr }];
    },
  },
];
