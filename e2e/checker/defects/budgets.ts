import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Evidence } from '../evidence.ts';
import type { Random } from '../random.ts';
import { type Defect, pickEvent, pickIn, pickRun, renumber } from './defect.ts';

const ONE_QUESTION = 'a budget asks one question';
const FOLLOWED = 'the answer about a budget is followed';
const KEPT = 'a budget is exceeded by one call at most';
const LAST = 'a declined budget leaves one last answer';

const isQuestion = (event: StreamEvent): boolean => event.type === 'approve_request' && event.kind === 'budget';

const pickQuestion = (evidence: Evidence, random: Random) =>
  pickIn(evidence, random, ({ approvals }) => approvals.filter(({ kind }) => kind === 'budget'));

/** Defects of budgets. */
export const BUDGET_DEFECTS: Defect[] = [
  {
    name: 'a budget asks again while its question is open',
    rule: ONE_QUESTION,
    apply(evidence, random) {
      const { workstream } = pickQuestion(evidence, random);
      const [first] = workstream.approvals.filter(({ kind }) => kind === 'budget');
      if (first) first.decided_ms = Number.MAX_SAFE_INTEGER;
    },
  },
  {
    name: 'a run does not follow the answer about its budget',
    rule: FOLLOWED,
    apply(evidence, random) {
      const { workstream, part } = pickQuestion(evidence, random);
      const { events } = workstream;
      const at = events.findIndex(
        ({ event }) => event.type === 'approval_resolved' && event.approval_id === part.approval_id,
      );
      events.splice(at, 1);
      renumber(events);
    },
  },
  {
    name: 'a run reads another answer about its budget',
    rule: FOLLOWED,
    apply(evidence, random) {
      const { part: asked } = pickQuestion(evidence, random);
      const { part } = pickRun(evidence, random, ({ journal }) =>
        journal.some((entry) => entry.kind === 'approval_decided' && entry.approvalId === asked.approval_id),
      );
      for (const entry of part.journal) {
        if (entry.kind === 'approval_decided') entry.decision.approved = !entry.decision.approved;
      }
    },
  },
  {
    name: 'the answer about a budget is not stored, but followed',
    rule: FOLLOWED,
    apply(evidence, random) {
      const { part } = pickQuestion(evidence, random);
      Object.assign(part, { status: 'pending', decided_ms: null });
    },
  },
  {
    name: 'a budget is exceeded by several calls',
    rule: KEPT,
    apply(evidence, random) {
      const { part } = pickEvent(evidence, random, isQuestion);
      const { event } = part[1];
      if (event.type === 'approve_request' && event.budget) event.budget.limit -= 1_000_000;
    },
  },
  {
    name: 'a call is not counted for its budget',
    rule: KEPT,
    apply(evidence, random) {
      const { part } = pickEvent(evidence, random, isQuestion);
      const { event } = part[1];
      if (event.type === 'approve_request' && event.budget) event.budget.spent = 0;
    },
  },
  {
    name: 'a run goes on although a person declined to spend more',
    rule: LAST,
    apply(evidence, random) {
      const declined = (event: StreamEvent) =>
        event.type === 'info' && event.message.startsWith('The model was told to finish');
      const { workstream, part } = pickEvent(evidence, random, declined);
      const { events } = workstream;
      const at = events.findIndex(({ event }, index) => index > part[0] && event.type === 'stream_end');
      events.splice(at, 0, ...structuredClone(events.slice(at, at + 2)));
      renumber(events);
    },
  },
];
