import { GatewayError } from '../../../protocol/errors.ts';
import { MOST_POLICIES, type ToolPolicy } from '../../../protocol/methods/admin/policy.ts';
import { compileRules, inOrder, type ToolRules } from '../../agent/run/approval/tool-rules.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { ToolPolicyTable } from '../store/schema/policy-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';

/** The fields that people set. */
export type PolicyFields = Pick<ToolPolicy, 'name' | 'toolPattern' | 'action' | 'priority' | 'enabled'>;

interface PoliciesDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
}

/**
 * The tool policies. They are held in memory, because every call of every run asks them, and prepared once per change. A
 * change takes effect when it is stored. Statements given as `also` are stored together with it.
 */
export class ToolPolicies {
  readonly #deps: PoliciesDeps;
  #policies: readonly ToolPolicy[] | undefined;
  #rules: ToolRules = notLoaded;

  constructor(deps: PoliciesDeps) {
    this.#deps = deps;
  }

  /** Reads them. No run may start before, as it would start without them. */
  async load(): Promise<void> {
    const rows = await this.#deps.store.db.selectFrom('tool_policies').selectAll().execute();
    this.#take(rows.map(toPolicy));
  }

  /** In the order in which they decide. */
  list(): readonly ToolPolicy[] {
    return this.#policies ?? notLoaded();
  }

  /** The enabled ones, as they are now. */
  get rules(): ToolRules {
    return this.#rules;
  }

  /** Throws CONFLICT when there are too many. */
  async create(
    fields: PolicyFields,
    { by, also }: { by: string; also(policyId: string): readonly Statement[] },
  ): Promise<ToolPolicy> {
    const before = this.list();
    if (before.length >= MOST_POLICIES)
      throw new GatewayError('CONFLICT', `Maximum of ${MOST_POLICIES} policies reached`);
    const nowMs = this.#deps.clock.now();
    const policyId = this.#deps.ids.id('pol');
    const policy = { policyId, ...fields, createdBy: by, createdAtMs: nowMs, updatedAtMs: nowMs };
    await this.#commit([statementOf(build.insertInto('tool_policies').values(toRow(policy)), 1), ...also(policyId)]);
    this.#take([...before, policy]);
    return policy;
  }

  /** Throws NOT_FOUND. */
  async update(
    policyId: string,
    change: Partial<PolicyFields>,
    also: (before: ToolPolicy) => readonly Statement[],
  ): Promise<ToolPolicy> {
    const before = this.#get(policyId);
    const policy = { ...before, ...change, updatedAtMs: this.#deps.clock.now() };
    const update = build.updateTable('tool_policies').set(toRow(policy)).where('policy_id', '=', policyId);
    await this.#commit([statementOf(update, 1), ...also(before)]);
    this.#take(this.list().map((one) => (one === before ? policy : one)));
    return policy;
  }

  /** Throws NOT_FOUND. */
  async remove(policyId: string, also: (before: ToolPolicy) => readonly Statement[]): Promise<void> {
    const before = this.#get(policyId);
    const remove = build.deleteFrom('tool_policies').where('policy_id', '=', policyId);
    await this.#commit([statementOf(remove, 1), ...also(before)]);
    this.#take(this.list().filter((one) => one !== before));
  }

  #get(policyId: string): ToolPolicy {
    const found = this.list().find((policy) => policy.policyId === policyId);
    if (found === undefined) throw policyMissing();
    return found;
  }

  #take(policies: readonly ToolPolicy[]): void {
    this.#policies = inOrder(policies);
    this.#rules = compileRules(this.#policies);
  }

  async #commit(statements: Statement[]): Promise<void> {
    try {
      await this.#deps.store.commit({ statements, durable: true });
    } catch (error) {
      throw error instanceof UnitRefused ? policyMissing(error) : error;
    }
  }
}

/** A run without the policies could do what they forbid. */
function notLoaded(): never {
  throw new Error('the tool policies are not loaded yet');
}

const policyMissing = (cause?: unknown) => new GatewayError('NOT_FOUND', 'Policy not found', { cause });

const toRow = (policy: ToolPolicy): ToolPolicyTable => ({
  policy_id: policy.policyId,
  name: policy.name,
  tool_pattern: policy.toolPattern,
  action: policy.action,
  priority: policy.priority,
  enabled: policy.enabled ? 1 : 0,
  created_by: policy.createdBy,
  created_ms: policy.createdAtMs,
  updated_ms: policy.updatedAtMs,
});

const toPolicy = (row: ToolPolicyTable): ToolPolicy => ({
  policyId: row.policy_id,
  name: row.name,
  toolPattern: row.tool_pattern,
  action: row.action,
  priority: row.priority,
  enabled: row.enabled === 1,
  createdBy: row.created_by,
  createdAtMs: row.created_ms,
  updatedAtMs: row.updated_ms,
});
