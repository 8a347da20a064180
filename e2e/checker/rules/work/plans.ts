import type { JournalEntry } from '../../../../src/agent/run/journal.ts';
import type { Evidence, Finding } from '../../evidence.ts';
import { callsBy, resultFor, workersOf } from '../../workers.ts';

type Asked = Extract<JournalEntry, { kind: 'approval_asked' }> & { plan: NonNullable<object> };

/** The rounds of a plan follow each other: each is asked once, and only after a decision that wanted changes. */
export function* plansInRounds({ disk }: Evidence): Generator<Finding> {
  for (const { place: where, journal } of disk.workstreams.flatMap(workersOf)) {
    const asked = plansIn(journal).filter(({ decision }) => decision?.by.kind !== 'cancel'); // those are asked again
    for (const [callId, rounds] of Map.groupBy(asked, ({ callId }) => callId)) {
      const numbers = rounds.map(({ round }) => round);
      if (numbers.some((round, index) => round !== index + 1))
        yield { what: `${callId} was asked about in the rounds ${numbers.join()}`, where };
      const open = rounds.slice(0, -1).find(({ decision }) => decision === undefined || decision.approved);
      if (open) yield { what: `round ${open.round} of ${callId} was followed by another one`, where };
    }
  }
}

/** A plan counts as approved if a person has approved its last round, and then has what that round said. */
export function* plansAsDecided({ disk }: Evidence): Generator<Finding> {
  for (const worker of disk.workstreams.flatMap(workersOf)) {
    for (const { id: callId } of callsBy(worker).filter(({ name }) => name === 'plan_agent')) {
      const last = plansIn(worker.journal).findLast((plan) => plan.callId === callId);
      const what = wrongPlan(resultFor(worker, callId), last);
      if (what !== undefined) yield { what: `${callId} ${what}`, where: worker.place };
    }
  }
}

function wrongPlan(
  result: ReturnType<typeof resultFor>,
  last: ReturnType<typeof plansIn>[number] | undefined,
): string | undefined {
  if (!result || result.outcome === 'unknown') return undefined;
  const isApproved = last?.decision?.approved === true;
  if ((result.outcome === 'done') !== isApproved) return `is ${result.outcome}, but approved: ${isApproved}`;
  return isApproved && !result.output.includes(last.content) ? 'has another plan than the approved one' : undefined;
}

function plansIn(journal: readonly JournalEntry[]) {
  return journal.flatMap((entry) => {
    if (!isPlan(entry)) return [];
    const { approvalId, plan } = entry;
    const decided = journal.find((each) => each.kind === 'approval_decided' && each.approvalId === approvalId);
    return [{ ...plan, decision: decided?.kind === 'approval_decided' ? decided.decision : undefined }];
  });
}

const isPlan = (entry: JournalEntry): entry is Asked & { plan: { callId: string; round: number; content: string } } =>
  entry.kind === 'approval_asked' && entry.plan !== undefined;
