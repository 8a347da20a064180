import { GatewayError } from '../../../protocol/errors.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { Decision } from '../../agent/run/journal.ts';
import { DAEMON, type Viewer } from '../sharing/perception.ts';
import type { Statement, Store } from '../store/store.ts';
import { withBudgetCall } from '../usage/budget-item.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { decided } from './live-run.ts';

/** The ways to name an approval. */
interface NamedApproval {
  approvalId?: string | undefined;
  callId?: string | undefined;
  cycleId?: string | undefined;
}

/** Who decides, and what is committed with it. */
interface Resolving {
  viewer: Viewer;
  also(wsId: string): Statement[];
}

interface InWorkstream extends NamedApproval {
  also: Statement[];
}

/** The pending approvals of all workstreams. */
export class Approvals {
  readonly #workstreams: Workstreams;
  readonly #store: Store;

  constructor(deps: { workstreams: Workstreams; store: Store }) {
    this.#workstreams = deps.workstreams;
    this.#store = deps.store;
  }

  /** Oldest first. A question that several workstreams share is listed once. */
  list(viewer: Viewer, wsId?: string): Approval[] {
    const pending = this.#workstreams
      .list(viewer)
      .filter(({ data }) => wsId === undefined || data.wsId === wsId)
      .flatMap(({ current }) => current?.pendingApproval() ?? [])
      .sort((a, b) => a.expiresAtMs - b.expiresAtMs);
    return [...new Map(pending.toReversed().map((approval) => [approval.approvalId, approval])).values()].reverse();
  }

  /** Throws NOT_FOUND for an unknown id, CONFLICT for a decided approval. */
  async resolve(approvalId: string, decision: Decision, { viewer, also }: Resolving): Promise<void> {
    const owner = this.#workstreams
      .list(viewer)
      .find(({ current }) => current?.pendingApproval()?.approvalId === approvalId);
    if (owner?.current) return owner.current.decide(approvalId, decision, also(owner.data.wsId));
    throw await this.#notWaiting(approvalId, viewer);
  }

  /**
   * Decides the pending approval of a workstream. If none is pending, this is not an error and returns synchronously.
   * Naming an approval that is not pending is an error.
   */
  resolveIn(workstream: Workstream, decision: Decision, options: InWorkstream): Promise<void> | undefined {
    const pending = workstream.current?.pendingApproval();
    requireWaiting(pending, options);
    const isNothing = pending === undefined && options.approvalId === undefined && options.also.length === 0;
    return isNothing ? undefined : this.#resolveIn(workstream, decision, options);
  }

  async #resolveIn({ current, data }: Workstream, decision: Decision, options: InWorkstream): Promise<void> {
    const pending = current?.pendingApproval();
    const { approvalId = pending?.approvalId, also } = options;
    if (approvalId === undefined) return void (await this.#store.commit({ statements: also }));
    if (!current || approvalId !== pending?.approvalId) throw await this.#notWaiting(approvalId, DAEMON, data.wsId);
    await current.decide(approvalId, decision, also);
  }

  async #notWaiting(approvalId: string, viewer: Viewer, wsId?: string): Promise<GatewayError> {
    const stored = await this.#store.db
      .selectFrom('approvals')
      .select('ws_id')
      .where('approval_id', '=', approvalId)
      .executeTakeFirst();
    const isElsewhere = stored !== undefined && stored.ws_id !== (wsId ?? stored.ws_id);
    if (!stored || isElsewhere || !(await this.#workstreams.isStored(stored.ws_id, viewer)))
      return new GatewayError('NOT_FOUND', 'Unknown approval');
    return decided();
  }
}

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
