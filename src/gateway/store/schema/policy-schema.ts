import type { PolicyAction } from '../../../../protocol/events/policy-actions.ts';

/** A rule about calls of tools. Primary key policy_id. */
export interface ToolPolicyTable {
  policy_id: string;
  name: string;
  tool_pattern: string;
  action: PolicyAction;
  priority: number;
  /** 0 or 1. */
  enabled: number;
  created_by: string;
  created_ms: number;
  updated_ms: number;
}

/** Schema version 35: tool policies. */
export const policies: readonly string[] = [
  `create table tool_policies (
    policy_id text not null primary key, name text not null, tool_pattern text not null, action text not null,
    priority bigint not null, enabled integer not null, created_by text not null, created_ms bigint not null,
    updated_ms bigint not null
  )`,
];

/** A permission rule. Primary key rule_id. */
export interface RuleTable {
  rule_id: string;
  action: PolicyAction;
  match_json: string;
  /** Where it holds; null: everywhere in that respect. Indexed, because it ends with its workstream. */
  ws_id: string | null;
  folder: string | null;
  user_id: string | null;
  priority: number;
  expires_ms: number | null;
  created_by: string;
  created_ms: number;
  updated_ms: number;
  /** The approval with which it was given, and its workstream. */
  approval_id: string | null;
  given_ws_id: string | null;
  used_ms: number | null;
  uses: number;
}

/** Schema version 39: permission rules, and the mode of a workstream. */
export const rules: readonly string[] = [
  `create table rules (
    rule_id text not null primary key, action text not null, match_json text not null, ws_id text, folder text, user_id text,
    priority bigint not null, expires_ms bigint, created_by text not null, created_ms bigint not null,
    updated_ms bigint not null, approval_id text, given_ws_id text, used_ms bigint, uses bigint not null
  )`,
  'create index rules_of_workstreams on rules (ws_id)',
  'alter table workstreams add column always_mode text',
  'alter table workstreams add column read_only integer not null default 0',
];
