import type { Random } from '../random.ts';
import type { ClusterDefect } from './cluster-defects.ts';
import { ACTIVE, type ClusterEvidence, movingFrom, type Write } from './cluster-evidence.ts';

const WORKERS = ['four', 'five'];

/** What the worker wrote that is lost in the story. */
const lostWrite = ({ writes }: ClusterEvidence, random: Random): Write =>
  random.pick(writes.filter(({ machine }) => machine === 'four'));

const lastNumber = ({ writes }: ClusterEvidence): number => Math.max(...writes.map(({ last }) => last));

/** A copy of a write, after all others. */
function writeAgain(evidence: ClusterEvidence, write: Write, changes: Partial<Write>): void {
  const number = lastNumber(evidence) + 1;
  evidence.writes.push({ ...write, first: number, last: number, ...changes });
}

/** What the story tells of the workstream that is taken over. */
function movedTalk({ story: { disk } }: ClusterEvidence) {
  const found = disk.workstreams.find(({ wsId }) => wsId === 'w-four');
  if (!found) throw new Error('the story has a workstream that is taken over');
  return found;
}

function movedStream({ story: { streams } }: ClusterEvidence) {
  const found = streams.find(({ wsId }) => wsId === 'w-four');
  if (!found) throw new Error('the story has a reader of what is taken over');
  return found;
}

/** An accepted call about it. */
const movedCall = ({ story: { calls } }: ClusterEvidence, random: Random, method: string) =>
  random.pick(calls.filter((call) => call.method === method && call.params.wsId === 'w-four'));

/** Where a machine gives a workstream to another one. */
const gift = (writes: readonly Write[], giver: string): number =>
  writes.findIndex(({ machine, table }) => machine === giver && table === 'workstreams');

const FIRST_EVENT = 2;

/** Defects of workers, and of take-overs from them. */
export const WORKER_DEFECTS: ClusterDefect[] = [
  {
    name: 'a worker writes although its lease was ended',
    rule: 'only the holder of a lease writes',
    apply(evidence, random) {
      lostWrite(evidence, random).holder = 'nobody';
    },
  },
  {
    name: 'a worker writes with a stale epoch after it has started again',
    rule: 'nothing is written in an older epoch',
    apply(evidence, random) {
      const write = random.pick(evidence.writes.filter(({ machine }) => machine === 'five'));
      writeAgain(evidence, write, { session: 'another', epoch: 2 });
      writeAgain(evidence, write, {});
    },
  },
  {
    name: 'two processes hold the lease of one worker',
    rule: 'an epoch has one holder',
    apply(evidence, random) {
      const write = lostWrite(evidence, random);
      evidence.writes.push({ ...write, session: 'another', holder: 'five' });
    },
  },
  {
    name: 'a paused worker writes after the active daemon has ended its lease',
    rule: 'a lost worker writes nothing after its end',
    apply(evidence, random) {
      lostWrite(evidence, random).last = lastNumber(evidence) + 1;
    },
  },
  {
    name: 'the active daemon writes a row of a living worker',
    rule: 'only the owner of a workstream writes its rows',
    apply(evidence, random) {
      random.pick(evidence.writes.filter(({ owner }) => owner === ACTIVE)).owner = random.pick(WORKERS);
    },
  },
  {
    name: 'a worker writes a row of another worker',
    rule: 'only the owner of a workstream writes its rows',
    apply(evidence, random) {
      lostWrite(evidence, random).owner = 'five';
    },
  },
  {
    name: 'a worker writes a row that the active daemon is taking over',
    rule: 'only the owner of a workstream writes its rows',
    apply(evidence, random) {
      lostWrite(evidence, random).owner = movingFrom('four');
    },
  },
  {
    name: 'two machines have one workstream',
    rule: 'a workstream has one owner at a time',
    apply(evidence, random) {
      writeAgain(evidence, random.pick(evidence.writes.filter(({ machine }) => machine === 'five')), {
        wsId: 'w-four',
      });
    },
  },
  {
    name: 'a worker takes back what was taken over from it',
    rule: 'a workstream has one owner at a time',
    apply(evidence, random) {
      writeAgain(evidence, lostWrite(evidence, random), { session: 'another', epoch: 3 });
    },
  },
  {
    name: 'the active daemon takes over although the worker goes on',
    rule: 'a workstream has one owner at a time',
    apply(evidence, random) {
      lostWrite(evidence, random).last = 264;
    },
  },
  {
    name: 'a worker begins with what nobody has given it',
    rule: 'a workstream has one owner at a time',
    apply({ writes }) {
      writes.splice(gift(writes, 'two'), 1);
    },
  },
  {
    name: 'a move is lost: the giver goes on with what it has given away',
    rule: 'only the owner of a workstream writes its rows',
    apply(evidence) {
      const write = evidence.writes[gift(evidence.writes, 'five')];
      if (write) evidence.writes.push({ ...write, first: 184, last: 184, owner: ACTIVE, table: 'runs' });
    },
  },
  {
    name: 'a giver still writes the log while the receiver begins with it',
    rule: 'a log has one writer at a time',
    apply({ writes }) {
      for (const write of writes)
        if (write.wsId === 'w-five' && write.table === 'events' && write.last === 186) write.last = 190;
    },
  },
  {
    name: 'a log has two writers during a take-over',
    rule: 'a log has one writer at a time',
    apply({ writes }) {
      for (const write of writes) if (write.machine === 'four' && write.table === 'events') write.last = 270;
    },
  },
  {
    name: 'a worker writes a log again in the epoch before its restart',
    rule: 'a log has one writer at a time',
    apply(evidence) {
      const write = evidence.writes.find(({ machine, table }) => machine === 'five' && table === 'events');
      if (!write) throw new Error('the worker wrote a log');
      writeAgain(evidence, write, { epoch: 2, session: 'another' });
      writeAgain(evidence, write, {});
    },
  },
  {
    name: 'a workstream is placed at a worker that has gone',
    rule: 'only the owner of a workstream writes its rows',
    apply(evidence) {
      const write = evidence.writes.find(({ machine }) => machine === 'three');
      if (!write) throw new Error('the active daemon wrote');
      writeAgain(evidence, write, { table: 'workstreams', wsId: 'w-new', owner: 'four' });
    },
  },
  {
    name: 'a workstream is with another worker than its creator was told',
    rule: 'a workstream is where its creator was told',
    apply({ placements }, random) {
      const placed = random.pick(placements);
      placed.machine = placed.machine === 'five' ? 'four' : 'five';
    },
  },
  {
    name: 'the workstreams of a lost worker are never taken over',
    rule: 'clients get on after a fault',
    apply({ recoveries }) {
      const last = recoveries.find(({ machine }) => machine === 'all workstreams');
      Object.assign(last ?? {}, { attempts: 300, isServed: false });
    },
  },
  {
    name: 'a worker never joins the next active daemon',
    rule: 'clients get on after a fault',
    apply({ recoveries }, random) {
      random.pick(recoveries.filter(({ machine }) => WORKERS.includes(machine))).isServed = false;
    },
  },
  {
    name: 'a worker calls itself active',
    rule: 'one daemon is active at rest',
    apply({ states }, random) {
      random.pick(states.filter(({ isWorker }) => isWorker)).state = 'active';
    },
  },
  {
    name: 'a worker serves as a standby',
    rule: 'one daemon is active at rest',
    apply({ states }, random) {
      random.pick(states.filter(({ isWorker }) => isWorker)).state = 'standby';
    },
  },
  {
    name: 'a worker crashes when the bus goes away',
    rule: 'a daemon ends only for a reason that it names',
    apply(evidence) {
      const stderr = 'NatsError: CONNECTION_CLOSED';
      evidence.ends = [...evidence.ends, { machine: 'four', code: 1, isAsked: false, stderr }];
    },
  },
  {
    name: 'a message that a worker accepted is lost in the take-over',
    rule: 'accepted messages are kept',
    apply(evidence, random) {
      const { runs } = movedTalk(evidence);
      runs.splice(random.int(0, runs.length - 1), 1);
    },
  },
  {
    name: 'a run is begun again as another one after the take-over',
    rule: 'a call without a key has one effect',
    apply(evidence, random) {
      const { runs } = movedTalk(evidence);
      const { run, journal } = random.pick(runs);
      runs.push({ run: { ...run, run_id: 'run_again' }, journal });
    },
  },
  {
    name: 'a run goes on at two machines',
    rule: 'one run at a time',
    apply(evidence) {
      for (const { run } of movedTalk(evidence).runs.slice(0, 2)) run.status = 'running';
    },
  },
  {
    name: 'a decision is lost in the take-over',
    rule: 'an answered decision is stored',
    apply(evidence, random) {
      random.pick(movedTalk(evidence).approvals).status = 'expired';
    },
  },
  {
    name: 'a question is pending again after the take-over',
    rule: 'no run is open at rest',
    apply(evidence, random) {
      random.pick(movedTalk(evidence).approvals).status = 'pending';
    },
  },
  {
    name: 'a worker and the daemon that takes over both accept a decision',
    rule: 'one decision wins',
    apply(evidence, random) {
      evidence.story.calls.push(structuredClone(movedCall(evidence, random, 'workstream.approve')));
    },
  },
  {
    name: 'the active daemon loses an event of a worker',
    rule: 'every event is received once and in order',
    apply(evidence, random) {
      const { frames } = movedStream(evidence);
      frames.splice(random.int(FIRST_EVENT, frames.length - 2), 1);
    },
  },
  {
    name: 'the active daemon tells an event of a worker twice',
    rule: 'every event is received once and in order',
    apply(evidence, random) {
      const { frames } = movedStream(evidence);
      const at = random.int(FIRST_EVENT, frames.length - 1);
      frames.splice(at, 0, ...frames.slice(at, at + 1));
    },
  },
  {
    name: 'the active daemon tells an event that the worker could not store',
    rule: 'every event a client received is on disk',
    apply(evidence) {
      movedTalk(evidence).events.pop();
    },
  },
  {
    name: 'a stream ends with what the worker told last',
    rule: 'readers receive the last event',
    apply(evidence) {
      movedStream(evidence).frames.pop();
    },
  },
];
