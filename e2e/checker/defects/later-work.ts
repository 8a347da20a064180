import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { RunOnDisk } from '../evidence.ts';
import { type Defect, pickEvent, pickIn, renumber } from './defect.ts';

const ROUNDS = 'a plan is asked about in rounds';
const DECIDED = 'a plan counts as it was decided';
const ENDS_ONCE = 'a watch ends once';
const TOLD_ONCE = 'the result of a watch is told once';
const KEPT = 'what an agent remembers is kept';

const isWatchEnd = (event: StreamEvent): boolean => event.type === 'watch' && event.active === 0;

type Apply = Parameters<Defect['apply']>;

const pickWatch = (...[evidence, random]: Apply) => pickIn(evidence, random, ({ watches }) => watches).part;

const isPlan = (entry: RunOnDisk['journal'][number]) => entry.kind === 'approval_asked' && entry.plan !== undefined;

/** A run that has made a plan, and its questions about it. */
function pickPlan(...[evidence, random]: Apply) {
  const { part } = pickIn(evidence, random, ({ runs }) => runs.filter(({ journal }) => journal.some(isPlan)));
  return { journal: part.journal, asked: part.journal.filter(isPlan) };
}

function decisionOf(journal: RunOnDisk['journal'], approvalId: string) {
  const entry = journal.find((each) => each.kind === 'approval_decided' && each.approvalId === approvalId);
  if (entry?.kind !== 'approval_decided') throw new Error('it is not decided');
  return entry;
}

/** Defects of plans, watches and memories. */
export const LATER_WORK_DEFECTS: Defect[] = [
  {
    name: 'a round of a plan is asked about twice',
    rule: ROUNDS,
    apply(evidence, random) {
      const { journal, asked } = pickPlan(evidence, random);
      journal.push(structuredClone(random.pick(asked)));
    },
  },
  {
    name: 'a plan is asked about again after its approval',
    rule: ROUNDS,
    apply(evidence, random) {
      const { journal, asked } = pickPlan(evidence, random);
      const [first] = asked;
      if (first?.kind !== 'approval_asked') return;
      const { decision } = decisionOf(journal, first.approvalId);
      decision.approved = true;
    },
  },
  {
    name: 'a plan that was rejected is followed',
    rule: DECIDED,
    apply(evidence, random) {
      const { journal, asked } = pickPlan(evidence, random);
      const last = asked.at(-1);
      if (last?.kind !== 'approval_asked') return;
      decisionOf(journal, last.approvalId).decision.approved = false;
    },
  },
  {
    name: 'another plan is followed than the approved one',
    rule: DECIDED,
    apply(evidence, random) {
      const { part } = pickIn(evidence, random, ({ messages }) =>
        messages.flatMap(({ message }) => (message.role === 'tool' && message.name === 'plan_agent' ? [message] : [])),
      );
      part.output = part.output.replaceAll('smaller', 'larger');
    },
  },
  {
    name: 'a watch goes on after its end',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isWatchEnd);
      const [index, { event }] = part;
      if (event.type !== 'watch') return;
      workstream.events.splice(index + 1, 0, { offset: 0, event: { ...event, active: 1 } });
      renumber(workstream.events);
    },
  },
  {
    name: 'a watch ends in two ways',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isWatchEnd);
      const [index, { event }] = part;
      if (event.type !== 'watch') return;
      workstream.events.splice(index + 1, 0, { offset: 0, event: { ...event, end: 'cancelled' } });
      renumber(workstream.events);
    },
  },
  {
    name: 'a watch is polled more often than allowed',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      const watch = pickWatch(evidence, random);
      watch.poll_count = watch.max_polls + 1;
    },
  },
  {
    name: 'a watch polls without a claim',
    rule: 'every side effect has exactly one start',
    apply(evidence, random) {
      pickWatch(evidence, random).poll_count = 0;
    },
  },
  {
    name: 'the result of a watch is told twice',
    rule: TOLD_ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ runs }) =>
        runs.filter(({ run }) => JSON.parse(run.request_json).watch !== undefined),
      );
      workstream.runs.push({ ...part, run: { ...part.run, run_id: 'run_twin' } });
    },
  },
  {
    name: 'the result of a watch is told and stays to be told',
    rule: TOLD_ONCE,
    apply(evidence, random) {
      pickWatch(evidence, random).result_json = '{"text":"again"}';
    },
  },
  {
    name: 'a memory is lost',
    rule: KEPT,
    apply({ disk }, random) {
      disk.memories.splice(disk.memories.indexOf(random.pick(disk.memories)), 1);
    },
  },
  {
    name: 'a memory is there twice, once waiting for a person',
    rule: KEPT,
    apply({ disk }, random) {
      disk.memories.push({ ...random.pick(disk.memories), waits: true });
    },
  },
  {
    name: 'a memory whose call was denied is kept',
    rule: KEPT,
    apply(evidence, random) {
      const { part } = pickIn(evidence, random, ({ messages }) =>
        messages.flatMap(({ message }) => (message.role === 'tool' && message.name === 'memory' ? [message] : [])),
      );
      part.outcome = 'denied';
    },
  },
];
