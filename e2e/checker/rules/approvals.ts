import type { ApprovalTable } from '../../../src/gateway/store/schema/schema.ts';
import type { Evidence, Finding, WorkstreamOnDisk } from '../evidence.ts';

/** Each approval is requested once and decided at most once, in the row, the journal and the log (I5). */
export function* oneDecision({ disk }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    const known = new Set(workstream.approvals.map(({ approval_id }) => approval_id));
    for (const { offset, event } of workstream.events) {
      if (event.type !== 'approve_request' || isShared(event) || known.has(event.approval_id)) continue;
      yield { what: `${event.approval_id} was requested, but is not stored`, where: `${workstream.wsId}:${offset}` };
    }
    for (const approval of workstream.approvals) if (!isShared(approval)) yield* settledOnce(approval, workstream);
  }
}

/** Several workstreams may ask it; rules about budgets check them. */
const isShared = ({ kind }: Pick<ApprovalTable, 'kind'>): boolean => kind === 'budget';

function* settledOnce(approval: ApprovalTable, { wsId, events, runs, agents }: WorkstreamOnDisk): Generator<Finding> {
  const { approval_id: id, status } = approval;
  const isOpen = status === 'pending';
  const tellings = events.flatMap(({ event }) => ('approval_id' in event && event.approval_id === id ? [event] : []));
  const resolved = tellings.filter((event) => event.type === 'approval_resolved');
  const journal = [...runs, ...agents].flatMap((worker) => worker.journal);
  const decisions = journal.flatMap((entry) =>
    entry.kind === 'approval_decided' && entry.approvalId === id ? [entry.decision] : [],
  );
  const approved = status === 'approved';
  const problems = [
    [(approval.decided_ms === null) !== isOpen, `is ${status} and decided at ${approval.decided_ms}`],
    [tellings.length - resolved.length !== 1, `was asked ${tellings.length - resolved.length} times`],
    // The end of an abandoned run does not report that its approval is resolved.
    [isOpen ? resolved.length > 0 : resolved.length > 1, `is ${status} and was told ${resolved.length} decisions`],
    [status !== 'cancelled' && !isOpen && resolved.length === 0, `is ${status}, but nobody was told`],
    [decisions.length !== (isOpen || status === 'cancelled' ? 0 : 1), `has ${decisions.length} decisions, ${status}`],
    [resolved.some((event) => event.approved !== approved), `is ${status}, but was told otherwise`],
    [decisions.some((decision) => decision.approved !== approved), `is ${status}, but the run read otherwise`],
  ] as const;
  for (const [isWrong, what] of problems) if (isWrong) yield { what: `${id} ${what}`, where: wsId };
}

/** Every decision comes from a call or from the deadline. A run decides itself about a question that it withdraws. */
export function* decidedBySomebody({ disk, calls }: Evidence): Generator<Finding> {
  const said = new Set(calls.map(({ params }) => JSON.stringify([params.approvalId, params.approved])));
  for (const workstream of disk.workstreams) {
    const { wsId, approvals } = workstream;
    const withdrawn = withdrawnIn(workstream);
    for (const { approval_id: id, status } of approvals) {
      if ((status !== 'approved' && status !== 'denied') || withdrawn.has(id)) continue;
      if (!said.has(JSON.stringify([id, status === 'approved']))) yield { what: `no one ${status} ${id}`, where: wsId };
    }
  }
}

function withdrawnIn({ runs, agents }: WorkstreamOnDisk): ReadonlySet<string> {
  const journal = [...runs, ...agents].flatMap((worker) => worker.journal);
  const byRun = journal.flatMap((entry) =>
    entry.kind === 'approval_decided' && entry.decision.by.kind === 'cancel' && !entry.decision.approved
      ? entry.approvalId
      : [],
  );
  return new Set(byRun);
}
