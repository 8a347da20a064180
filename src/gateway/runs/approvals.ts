import { GatewayError } from '../../../protocol/errors.ts';
import type { Result } from '../../../protocol/index.ts';
import type { Rule } from '../../../protocol/methods/admin/rule.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import { pendingModelVerdicts } from '../judge/verdict-rows.ts';
import { decided } from '../questions/run-questions.ts';
import { type AskedDecision, completeDecision } from '../rules/given-rules.ts';
import type { Rules } from '../rules/rules.ts';
import { DAEMON, type Viewer } from '../sharing/perception.ts';
import type { Statement, Store } from '../store/store.ts';
import { withBudgetCall } from '../usage/budget-item.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

/** The ways to name an approval. */
interface NamedApproval {
  approvalId?: string | undefined;
  callId?: string | undefined;
  cycleId?: string | undefined;
}

/** Who decides, and what is committed with it. */
interface Resolving {
  viewer: Viewer;
  also(wsId: string, rules: readonly Rule[]): Statement[];
}

interface InWorkstream extends NamedApproval, Resolving {}

/** The pending approvals of all workstreams. */
export class Approvals {
  readonly #workstreams: Workstreams;
  readonly #store: Store;
  readonly #rules: Pick<Rules, 'prepare'>;

  constructor(deps: { workstreams: Workstreams; store: Store; rules: Pick<Rules, 'prepare'> }) {
    this.#workstreams = deps.workstreams;
    this.#store = deps.store;
    this.#rules = deps.rules;
  }

  /** Oldest first. A question that several workstreams share is listed once. */
  list(viewer: Viewer, wsId?: string): Approval[] {
    const pending = this.#workstreams
      .list(viewer)
      .filter(({ data }) => wsId === undefined || data.wsId === wsId)
      .flatMap(({ current }) => current?.pendingApprovals() ?? [])
      .sort((a, b) => a.expiresAtMs - b.expiresAtMs);
    return [...new Map(pending.toReversed().map((approval) => [approval.approvalId, approval])).values()].reverse();
  }

  /** The same with the time when each was asked, which a restart does not change, and what the judge's model said meanwhile. */
  async listAsked(viewer: Viewer, wsId?: string): Promise<Result<'approval.list'>['approvals']> {
    const pending = this.list(viewer, wsId);
    if (pending.length === 0) return [];
    const [rows, verdicts] = await Promise.all([
      this.#store.db
        .selectFrom('approvals')
        .select(['approval_id', 'asked_ms'])
        .where('status', '=', 'pending')
        .execute(),
      pendingModelVerdicts(this.#store),
    ]);
    const asked = new Map(rows.map(({ approval_id, asked_ms }) => [approval_id, asked_ms]));
    return pending
      .flatMap((approval) => {
        const askedAtMs = asked.get(approval.approvalId);
        const modelVerdicts = verdicts.get(approval.approvalId);
        if (askedAtMs === undefined) return []; // decided meanwhile
        return { ...approval, askedAtMs, ...(modelVerdicts && { modelVerdicts }) };
      })
      .sort((a, b) => a.askedAtMs - b.askedAtMs);
  }

  /** Throws NOT_FOUND for an unknown id, CONFLICT for a decided approval. */
  async resolve(approvalId: string, decision: AskedDecision, options: Resolving): Promise<void> {
    const { viewer } = options;
    for (const owner of this.#workstreams.list(viewer)) {
      const pending = findPending(owner, approvalId);
      if (pending) return this.#decide(owner, { pending, decision, options });
    }
    throw await this.#notWaiting(approvalId, viewer);
  }

  async #decide(
    { current, data }: Workstream,
    { pending, decision, options }: { pending: Approval; decision: AskedDecision; options: Resolving },
  ): Promise<void> {
    const about = { approval: pending, place: data, giver: options.viewer };
    const whole = completeDecision(decision, about, this.#rules);
    const also = [...whole.statements, ...options.also(data.wsId, whole.rules)];
    await current?.decide(pending.approvalId, () => whole.decision, also);
    whole.apply();
  }

  /**
   * Decides the pending approval of a workstream. If none is pending, this is not an error and returns synchronously.
   * Naming an approval that is not pending is an error.
   */
  resolveIn(workstream: Workstream, decision: AskedDecision, options: InWorkstream): Promise<void> | undefined {
    const pending = workstream.current?.pendingApproval();
    requireWaiting(findPending(workstream, options.approvalId) ?? pending, options);
    const isNothing = pending === undefined && options.approvalId === undefined;
    if (!isNothing) return this.#resolveIn(workstream, decision, options);
    const statements = options.also(workstream.data.wsId, []);
    return statements.length === 0 ? undefined : this.#store.commit({ statements }).then(() => undefined);
  }

  async #resolveIn(workstream: Workstream, decision: AskedDecision, options: InWorkstream): Promise<void> {
    const { approvalId } = options;
    const pending = findPending(workstream, approvalId);
    if (pending) return this.#decide(workstream, { pending, decision, options });
    throw await this.#notWaiting(approvalId ?? '', DAEMON, workstream.data.wsId);
  }

  async #notWaiting(approvalId: string, viewer: Viewer, wsId?: string): Promise<GatewayError> {
    const stored = await this.#store.db
      .selectFrom('approvals')
      .select(['ws_id', 'status'])
      .where('approval_id', '=', approvalId)
      .executeTakeFirst();
    const isElsewhere = stored !== undefined && stored.ws_id !== (wsId ?? stored.ws_id);
    if (!stored || isElsewhere || !(await this.#workstreams.isStored(stored.ws_id, viewer)))
      return new GatewayError('NOT_FOUND', 'Unknown approval');
    if (stored.status !== 'pending') return decided();
    return new GatewayError('UNAVAILABLE', 'The run that asks this is not ready yet; retry', { retryAfterMs: 1_000 });
  }
}

/** The question with this id; without an id, the first one. */
const findPending = ({ current }: Pick<Workstream, 'current'>, approvalId?: string): Approval | undefined =>
  current?.pendingApprovals().find((asked) => approvalId === undefined || asked.approvalId === approvalId);

/** Throws CONFLICT for a call or cycle that is not pending; clients know these ids only from events. */
function requireWaiting(pending: Approval | undefined, { callId, cycleId }: NamedApproval): void {
  const isAsked = itemsOf(pending).some(({ call_id }) => call_id === callId);
  if (callId !== undefined && !isAsked) throw stale('call_id', pending);
  if (cycleId !== undefined && cycleId !== pending?.approvalId) throw stale('cycle_id', pending);
}

/** The details name what is pending now; they are null if nothing is. */
function stale(what: string, pending: Approval | undefined): GatewayError {
  const details = {
    currentCallId: itemsOf(pending).find(({ needs_approval }) => needs_approval)?.call_id ?? null,
    currentCycleId: pending?.approvalId ?? null,
  };
  return new GatewayError('CONFLICT', `stale ${what}`, { details });
}

/** Also of a question about a budget: HTTP clients know its pseudo call. */
const itemsOf = (pending: Approval | undefined) => (pending ? withBudgetCall(pending) : []);
