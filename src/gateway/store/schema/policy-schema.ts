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
