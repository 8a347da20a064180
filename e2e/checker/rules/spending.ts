import type { BudgetQuestion } from '../../../protocol/run-outcome.ts';
import type { UsageTable } from '../../../src/gateway/store/schema/usage-schema.ts';
import type { CallHistory, Disk, Evidence, Finding, RunOnDisk, WorkstreamOnDisk } from '../evidence.ts';
import { callsBy } from '../workers.ts';
import { answersIn, questionsIn, sum, timedAnswers } from './budget-facts.ts';

/** Each answer of a model is counted once, however often the daemon was killed meanwhile. */
export function* countedOnce({ disk }: Evidence): Generator<Finding> {
  const usage = Map.groupBy(disk.usage, ({ run_id }) => run_id);
  for (const { wsId, runs, cuts, agents } of disk.workstreams) {
    const compactions = cuts.filter(({ kind }) => kind === 'compaction').length;
    for (const { run, journal } of runs) {
      const own = agents.filter(({ row }) => row.run_id === run.run_id);
      const answers = sum([{ journal }, ...own].map(answersOf));
      const counted = sum((usage.get(run.run_id) ?? []).map(({ turns }) => turns));
      const summaries = compactions + sum(own.map((agent) => agent.summaries));
      const most = hasPlans(journal) ? Number.POSITIVE_INFINITY : answers + summaries;
      if (counted >= answers && counted <= most) continue;
      yield { what: `${answers} answers of ${run.run_id} were counted as ${counted}`, where: wsId };
    }
  }
}

const answersOf = ({ journal }: Pick<RunOnDisk, 'journal'>): number =>
  journal.filter(({ kind }) => kind === 'model_answered').length;

/** What a planner says is not in the journal. */
const hasPlans = (journal: RunOnDisk['journal']): boolean =>
  callsBy({ journal }).some(({ name }) => name === 'plan_agent');

/** The tokens of all answers of a log were counted for its workstream. */
export function* countedWhole({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, events } of disk.workstreams) {
    const counted = sum(disk.usage.filter(({ ws_id }) => ws_id === wsId).map(exactTokens));
    const used = sum(answersIn(events));
    if (counted < used) yield { what: `${counted} tokens were counted, but ${used} used`, where: wsId };
  }
}

const exactTokens = ({ input, output, estimated }: UsageTable): number => input + output - estimated;

/** A person who agrees adds to the budget once, and nobody else does. */
export function* grantedOnce({ disk }: Evidence): Generator<Finding> {
  const granted = new Map(disk.grants.map((grant) => [grant.approval_id, grant]));
  const asked = disk.workstreams.flatMap((workstream) =>
    questionsIn(workstream).map(({ asked: { approval_id: id, budget } }) => [id, budget] as const),
  );
  const budgets = new Map(asked);
  for (const { wsId: where, approvals } of disk.workstreams) {
    for (const { approval_id: id, status } of approvals) {
      const budget = budgets.get(id);
      const isGranted = status === 'approved' && budget?.unit === 'tokens';
      const wanted = isGranted ? budget.more : 0;
      const found = granted.get(id)?.tokens ?? 0;
      if (found !== wanted) yield { what: `${id} is ${status} and grants ${found} tokens, not ${wanted}`, where };
    }
  }
}

/** After a budget was set, and before the next change, no call begins once what it allows is used. */
export function* roomForCalls({ disk, calls }: Evidence): Generator<Finding> {
  const changes = Map.groupBy(
    calls.filter(({ method }) => method === 'budget.set'),
    ({ params }) => params.wsId,
  );
  for (const workstream of disk.workstreams) {
    const own = changes.get(workstream.wsId) ?? [];
    for (const [index, change] of own.entries()) {
      const valid = validityOf(change, own.toSpliced(index, 1));
      if (valid) yield* callsWithoutRoom(workstream, { disk, ...valid });
    }
  }
}

interface Validity {
  tokens: number;
  /** It holds from this time, and at least until that one. */
  fromMs: number;
  toMs: number;
}

/** Undefined if it is uncertain whether and when it holds, because it was refused or another change was in flight. */
function validityOf({ params, sentMs, answers }: CallHistory, others: readonly CallHistory[]): Validity | undefined {
  const [answer] = answers;
  const isUncertain = others.some(
    (other) => other.sentMs <= sentMs && !((other.answers[0]?.atMs ?? Number.POSITIVE_INFINITY) < sentMs),
  );
  if (!answer?.ok || isUncertain || params.tokens === undefined) return undefined;
  const later = others.filter((other) => other.sentMs > sentMs).map((other) => other.sentMs);
  const toMs = Math.min(...later, Number.POSITIVE_INFINITY);
  return { tokens: params.tokens, fromMs: answer.atMs, toMs };
}

/** A call that was already admitted when the budget was set begins within this time. */
const ADMITTED_MS = 1_000;

function* callsWithoutRoom(
  workstream: WorkstreamOnDisk,
  { disk, tokens, fromMs, toMs }: Validity & { disk: Disk },
): Generator<Finding> {
  const { wsId } = workstream;
  const answers = timedAnswers(workstream);
  const grants = disk.grants.filter(({ scope, key }) => scope === 'workstream' && key === wsId);
  for (const { run, journal } of workstream.runs) {
    const told = journal.find(({ kind }) => kind === 'wrap_up')?.atMs ?? Number.POSITIVE_INFINITY;
    for (const { kind, atMs } of journal) {
      const isLast = atMs >= told; // another limit holds
      if (kind !== 'model_called' || isLast || atMs <= fromMs + ADMITTED_MS || atMs >= toMs) continue;
      const used = sum(answers.filter((answer) => answer.atMs < atMs).map((answer) => answer.tokens));
      const allowed = tokens + sum(grants.filter((grant) => grant.at_ms <= atMs).map((grant) => grant.tokens));
      if (used >= allowed) {
        yield { what: `${run.run_id} called with ${used} of ${allowed} tokens used`, where: `${wsId} at ${atMs}` };
      }
    }
  }
}

/** A budget that many runs share is exceeded by one call at most, apart from what last answers may use. */
export function* sharedKept({ disk }: Evidence): Generator<Finding> {
  const rows = new Map(disk.workstreams.flatMap(({ approvals }) => approvals.map((row) => [row.approval_id, row])));
  const asked = disk.workstreams.flatMap(questionsIn).flatMap(({ asked: { approval_id: id, budget } }) => {
    const row = rows.get(id);
    return row && budget.unit === 'tokens' ? [{ row, budget }] : [];
  });
  const oneCall = largestCall(disk);
  for (const [where, questions] of Map.groupBy(asked, ({ budget: { of, key } }) => `${of} ${key}`)) {
    if (where.startsWith('workstream')) continue; // its own rule is stricter
    for (const { row, budget } of questions) {
      const declined = questions.filter((other) => other.row.asked_ms < row.asked_ms && isDeclined(other.row.status));
      const mayUse = budget.limit + oneCall + lastAnswersOf(declined, oneCall) + budget.limit / 10;
      if (budget.spent <= mayUse) continue;
      yield { what: `${budget.spent} tokens of a limit of ${budget.limit}, in ${row.approval_id}`, where };
    }
  }
}

const isDeclined = (status: string): boolean => status === 'denied' || status === 'expired';

const lastAnswersOf = (declined: readonly { budget: BudgetQuestion }[], oneCall: number): number =>
  sum(declined.map(({ budget }) => (budget.lastAnswer ?? 0) + oneCall));

/** An answer, or a call that broke off. */
const largestCall = ({ usage, workstreams }: Disk): number =>
  Math.max(
    0,
    ...usage.map(({ estimated }) => estimated),
    ...workstreams.flatMap(({ events }) => answersIn(events)),
    // Their answers are not in the log one by one.
    ...workstreams.flatMap(({ agents }) => agents.map(({ state }) => state.tokens)),
  );
