import type { ApprovalTable } from '../../../src/gateway/store/schema/schema.ts';
import type { CallHistory, Disk, Evidence, Finding, Logged, WorkstreamOnDisk } from '../evidence.ts';
import { type Asked, answersIn, questionsIn, sum, timedAnswers } from './budget-facts.ts';

const rowsOf = ({ workstreams }: Disk): Map<string, ApprovalTable> =>
  new Map(workstreams.flatMap(({ approvals }) => approvals.map((row) => [row.approval_id, row] as const)));

/** However many runs meet a budget, one question about it is open at a time. */
export function* oneQuestion({ disk }: Evidence): Generator<Finding> {
  const rows = rowsOf(disk);
  const asked = disk.workstreams.flatMap(questionsIn).map(({ asked: { approval_id: id, budget } }) => {
    const { of, key, unit } = budget;
    return { row: rows.get(id), where: JSON.stringify([of, key, unit]) };
  });
  for (const [where, questions] of Map.groupBy(asked, (question) => question.where)) {
    const distinct = [...new Set(questions.flatMap(({ row }) => row ?? []))].sort((a, b) => a.asked_ms - b.asked_ms);
    for (const [index, row] of distinct.entries()) {
      const before = distinct[index - 1];
      const isOpen = before && (before.decided_ms ?? Number.POSITIVE_INFINITY) > row.asked_ms;
      if (isOpen) yield { what: `${row.approval_id} was asked while ${before.approval_id} was open`, where };
    }
  }
}

/** Every run that waits for a question follows its one answer. */
export function* answerFollowed({ disk, settled }: Pick<Evidence, 'disk' | 'settled'>): Generator<Finding> {
  const rows = rowsOf(disk);
  for (const workstream of disk.workstreams) {
    const asked = Map.groupBy(questionsIn(workstream), ({ asked: { approval_id: id } }) => id);
    for (const [id, times] of asked) {
      const row = rows.get(id);
      if (row) yield* followed(row, { workstream, places: times.map(({ at }) => at), settled });
    }
  }
}

interface Followers {
  workstream: WorkstreamOnDisk;
  /** Where the question was asked; a later run may ask the one that an abandoned run has asked. */
  places: readonly number[];
  settled: boolean;
}

function* followed(
  { approval_id: id, status }: ApprovalTable,
  { workstream, places, settled }: Followers,
): Generator<Finding> {
  const { wsId: where, events, runs } = workstream;
  const toldIn = (logged: readonly Logged[]) =>
    logged.flatMap(({ event }) => (event.type === 'approval_resolved' && event.approval_id === id ? [event] : []));
  const read = runs
    .flatMap(({ journal }) => journal)
    .flatMap((entry) => (entry.kind === 'approval_decided' && entry.approvalId === id ? [entry.decision] : []));
  const answers = [...toldIn(events).filter(({ by }) => by.kind !== 'cancel'), ...read];
  if (status === 'pending' && answers.length > 0) yield { what: `${id} is followed, but open`, where };
  if (answers.some(({ approved }) => approved !== (status === 'approved'))) {
    yield { what: `${id} was followed otherwise`, where };
  }
  if (!settled) return;
  const asking = runs
    .flatMap(({ run, journal }) => journal.map((entry) => ({ run, entry })))
    .filter(({ entry }) => entry.kind === 'approval_asked' && entry.approvalId === id)
    .sort((a, b) => a.entry.atMs - b.entry.atMs);
  for (const [index, at] of places.entries()) {
    // A run and its sub-agents may ask the same question at once. Each of them gets the decision.
    const next = places.slice(index + 1).find((place) => askerAt(events, place) === askerAt(events, at));
    const told = toldIn(events.slice(at, next)).filter(({ agent_id }) => agent_id === askerAt(events, at));
    // The end of an abandoned run does not report it, even if others still waited for the answer.
    const isAbandoned = status === 'cancelled' || asking[index]?.run.status === 'cancelled';
    if (told.length > 1 || (told.length === 0 && !isAbandoned)) {
      yield { what: `${id} was told ${told.length} decisions`, where: `${where}:${events[at]?.offset}` };
    }
  }
}

/** A workstream goes over its budget by one call at most, and a question counts all that was used. */
export function* budgetKept({ disk, calls }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    const changes = calls.filter(({ method, params }) => method === 'budget.set' && params.wsId === workstream.wsId);
    for (const { at, asked } of questionsIn(workstream)) {
      const { of, unit } = asked.budget;
      if (of === 'workstream' && unit === 'tokens') yield* counted(workstream, { at, asked, changes });
    }
  }
}

function* counted(
  workstream: WorkstreamOnDisk,
  { at, asked, changes }: { at: number; asked: Asked; changes: readonly CallHistory[] },
): Generator<Finding> {
  const { wsId, events, approvals } = workstream;
  const { limit, spent } = asked.budget;
  const answers = answersIn(events.slice(0, at));
  const used = sum(answers);
  const where = `${wsId}:${events[at]?.offset}`;
  const oneCall = Math.max(0, ...answers);
  const askedMs = approvals.find(({ approval_id: id }) => id === asked.approval_id)?.asked_ms ?? 0;
  const declined = approvals.filter(
    ({ kind, status, asked_ms }) => kind === 'budget' && status !== 'approved' && asked_ms < askedMs,
  );
  const mayExceed = oneCall + declined.length * (oneCall + (asked.budget.lastAnswer ?? 0));
  const usedBefore = usedWhenSet(
    workstream,
    changes.findLast(({ sentMs }) => sentMs <= askedMs),
  );
  if (used - Math.max(limit, usedBefore) > mayExceed) yield { what: `${used} tokens of a limit of ${limit}`, where };
  if (spent < used) yield { what: `${spent} tokens were counted, but ${used} used`, where };
}

/** A person may set a budget that is used up already. Infinite if the time of the change is unknown. */
function usedWhenSet(workstream: WorkstreamOnDisk, change: CallHistory | undefined): number {
  if (!change) return 0;
  const answer = change.answers[0];
  if (!answer) return Number.POSITIVE_INFINITY;
  const before = timedAnswers(workstream).filter(({ atMs }) => atMs <= answer.atMs);
  const used = sum(before.map(({ tokens }) => tokens));
  return used > (change.params.tokens ?? Number.POSITIVE_INFINITY) ? used : 0;
}

/** A run whose person declined to spend more gives one more answer at most. */
export function* oneLastAnswer({ disk }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    for (const { asked } of questionsIn(workstream)) {
      const answers = answersIn(afterDecline(workstream, asked.approval_id));
      if (answers.length > 1)
        yield { what: `${answers.length} answers after ${asked.approval_id}`, where: workstream.wsId };
    }
  }
}

/** The rest of the run whose question was declined, or of the sub-agent that had asked: after its end, the run goes on. */
function afterDecline({ events }: WorkstreamOnDisk, id: string): Logged[] {
  const isDecline = ({ event }: Logged) =>
    event.type === 'approval_resolved' && event.approval_id === id && !event.approved;
  const at = events.findIndex(isDecline);
  const rest = at < 0 ? [] : events.slice(at);
  const decline = rest[0]?.event;
  const asker = decline?.type === 'approval_resolved' ? decline.agent_id : undefined;
  const end = rest.findIndex(
    ({ event }) =>
      (event.type === 'ws_state' && event.run !== undefined) ||
      (asker !== undefined && event.type === 'sub_agent' && event.agent_id === asker && event.state === 'ended'),
  );
  return end < 0 ? rest : rest.slice(0, end);
}

/** The sub-agent that asks; undefined: the run itself. */
function askerAt(events: readonly Logged[], place: number): string | undefined {
  const event = events[place]?.event;
  return event?.type === 'approve_request' ? event.agent_id : undefined;
}
