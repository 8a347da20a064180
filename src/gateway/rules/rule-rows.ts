import { RuleMatch } from '../../../protocol/events/rules.ts';
import type { Rule } from '../../../protocol/methods/admin/rule.ts';
import type { RuleSource } from '../../agent/permissions/rules/rule-source.ts';
import type { RuleTable } from '../store/schema/policy-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';

const toRow = (rule: Rule): RuleTable => ({
  rule_id: rule.ruleId,
  action: rule.action,
  match_json: JSON.stringify(rule.match),
  ws_id: rule.wsId ?? null,
  folder: rule.folder ?? null,
  user_id: rule.userId ?? null,
  priority: rule.priority,
  expires_ms: rule.expiresAtMs ?? null,
  created_by: rule.createdBy,
  created_ms: rule.createdAtMs,
  updated_ms: rule.updatedAtMs,
  approval_id: rule.given?.approvalId ?? null,
  given_ws_id: rule.given?.wsId ?? null,
  used_ms: rule.usedAtMs ?? null,
  uses: rule.uses,
});

/** Undefined for a damaged row. */
export function toRule(row: RuleTable): Rule | undefined {
  const match = matchIn(row.match_json);
  if (match === undefined) return undefined;
  return {
    ruleId: row.rule_id,
    action: row.action,
    match,
    ...(row.ws_id !== null && { wsId: row.ws_id }),
    ...(row.folder !== null && { folder: row.folder }),
    ...(row.user_id !== null && { userId: row.user_id }),
    priority: row.priority,
    ...(row.expires_ms !== null && { expiresAtMs: row.expires_ms }),
    createdBy: row.created_by,
    createdAtMs: row.created_ms,
    updatedAtMs: row.updated_ms,
    ...(row.approval_id !== null &&
      row.given_ws_id !== null && { given: { approvalId: row.approval_id, wsId: row.given_ws_id } }),
    ...(row.used_ms !== null && { usedAtMs: row.used_ms }),
    uses: row.uses,
  };
}

function matchIn(json: string): RuleMatch | undefined {
  try {
    return RuleMatch.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined; // not JSON
  }
}

export const insertRule = (rule: Rule): Statement => statementOf(build.insertInto('rules').values(toRow(rule)), 1);

/** Refused if the rule is gone. */
export function updateRule(rule: Rule): Statement {
  const { uses: _, used_ms: __, ...row } = toRow(rule); // counted by themselves
  return statementOf(build.updateTable('rules').set(row).where('rule_id', '=', rule.ruleId), 1);
}

/** Refused if the rule is gone. */
export const deleteRule = (ruleId: string): Statement =>
  statementOf(build.deleteFrom('rules').where('rule_id', '=', ruleId), 1);

/** What a person allowed in a conversation ends with it; what was forbidden there stays. */
export const endRulesOf = (wsId: string): Statement =>
  statementOf(build.deleteFrom('rules').where('ws_id', '=', wsId).where('action', '=', 'allow'));

export const countUses = (ruleId: string, { count, atMs }: { count: number; atMs: number }): Statement =>
  statementOf(
    build
      .updateTable('rules')
      .set(({ eb }) => ({ uses: eb('uses', '+', count), used_ms: atMs }))
      .where('rule_id', '=', ruleId),
  );

/** The narrowest part of its place. */
export const placeOf = ({ wsId, folder, userId }: Pick<Rule, 'wsId' | 'folder' | 'userId'>): RuleSource['place'] =>
  wsId !== undefined ? 'workstream' : folder !== undefined ? 'folder' : userId !== undefined ? 'user' : 'everywhere';

export const toSource = (rule: Rule): RuleSource => ({
  ruleId: rule.ruleId,
  source: 'rule',
  action: rule.action,
  match: rule.match,
  place: placeOf(rule),
  priority: rule.priority,
  createdAtMs: rule.createdAtMs,
});
