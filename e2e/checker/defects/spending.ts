import type { Evidence } from '../evidence.ts';
import type { Random } from '../random.ts';
import { answersIn } from '../rules/budget-facts.ts';
import { type Defect, pickIn, pickRun } from './defect.ts';

const pickAnswered = (evidence: Evidence, random: Random) =>
  pickRun(evidence, random, ({ run, journal }) => {
    const isCounted = evidence.disk.usage.some(({ run_id, turns }) => run_id === run.run_id && turns > 0);
    return isCounted && journal.some(({ kind }) => kind === 'model_answered');
  });

const usageOf = ({ disk }: Evidence, runId: string) => disk.usage.filter(({ run_id }) => run_id === runId);

const pickQuestion = (evidence: Evidence, random: Random, status: string) =>
  pickIn(evidence, random, ({ approvals }) =>
    approvals.filter((approval) => approval.kind === 'budget' && approval.status === status),
  ).part;

/** Defects of counting, of grants, and of the room that a budget has. */
export const SPENDING_DEFECTS: Defect[] = [
  {
    name: 'an answer is counted twice',
    rule: 'an answer is counted once',
    apply(evidence, random) {
      const { run } = pickAnswered(evidence, random).part;
      for (const row of usageOf(evidence, run.run_id)) row.turns += 5;
    },
  },
  {
    name: 'the answers of a run are not counted',
    rule: 'an answer is counted once',
    apply(evidence, random) {
      const { run } = pickAnswered(evidence, random).part;
      evidence.disk.usage = evidence.disk.usage.filter(({ run_id }) => run_id !== run.run_id);
    },
  },
  {
    name: 'an answer is counted with too few tokens',
    rule: 'all tokens of answers are counted',
    apply(evidence, random) {
      const { run } = pickAnswered(evidence, random).part;
      for (const row of usageOf(evidence, run.run_id)) row.input = -1_000_000;
    },
  },
  {
    name: 'a person agreed to spend more, but the budget does not grow',
    rule: 'a person grants once',
    apply(evidence, random) {
      const { approval_id: id } = pickQuestion(evidence, random, 'approved');
      evidence.disk.grants = evidence.disk.grants.filter(({ approval_id }) => approval_id !== id);
    },
  },
  {
    name: 'a budget grows although a person declined',
    rule: 'a person grants once',
    apply(evidence, random) {
      const { approval_id } = pickQuestion(evidence, random, 'denied');
      const grant = random.pick(evidence.disk.grants);
      evidence.disk.grants.push({ ...grant, approval_id });
    },
  },
  {
    name: 'a budget grows by more than a person was asked for',
    rule: 'a person grants once',
    apply(evidence, random) {
      random.pick(evidence.disk.grants).tokens += 1_000;
    },
  },
  {
    name: 'a call begins although the budget of its workstream is used up',
    rule: 'no call begins without room in its budget',
    apply(evidence, random) {
      const set = random.pick(
        evidence.calls.filter(({ method, params }) => method === 'budget.set' && params.tokens !== undefined),
      );
      set.params.tokens = 1;
      for (const answer of set.answers) answer.atMs -= 60_000;
      set.sentMs -= 60_000;
    },
  },
  {
    name: 'a budget that runs share is exceeded by several calls',
    rule: 'a shared budget is exceeded by one call at most',
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ events }) =>
        events.flatMap(({ event }) => (event.type === 'approve_request' && event.budget ? [event.budget] : [])),
      );
      const calls = answersIn(workstream.events).reduce((sum, tokens) => sum + tokens, 0);
      Object.assign(part, { of: 'day', key: '2026-01-31', spent: 10 * (part.limit + calls) });
    },
  },
];
