import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { PolicyAction } from '../../../../protocol/events/policy-actions.ts';
import type { FakeTool } from '../fake-toolbox.ts';
import type { JournalEntry } from '../journal.ts';
import { callOf, type FixtureOptions, has, runFixture } from '../run-fixture.ts';
import type { RuleSource } from './tool-rules.ts';

const TOOLS: Record<string, FakeTool> = {
  bash: { needsApproval: true },
  write_file: { needsApproval: true, label: 'overwrite_file' },
  look: { readOnly: true, safeToRepeat: true },
};
export const BASH = callOf('1', 'bash');
export const WRITE = callOf('2', 'write_file');
export const LOOK = callOf('3', 'look');

export const rule = (toolPattern: string, action: PolicyAction, priority = 0): RuleSource => ({
  ...{ policyId: `pol_${toolPattern}`, name: `${action} it`, toolPattern, action, priority, enabled: true },
  createdAtMs: 0,
});
export const policyOf = (toolPattern: string, action: PolicyAction) => ({
  policy: { policy_id: `pol_${toolPattern}`, name: `${action} it`, action },
});
export const blocked = (tool: string) => `Blocked by tool policy (pattern match for '${tool}')`;

const answered = (...calls: (typeof BASH)[]): JournalEntry[] => [
  { kind: 'started' },
  { kind: 'model_called', afterSeq: 1 },
  { kind: 'model_answered', calls },
];

/** A batch under policies, which a test may change. */
export function batch(calls: (typeof BASH)[], options: FixtureOptions = {}) {
  const held = { tools: TOOLS, journal: answered(...calls), ...options };
  const fixture = runFixture(held);
  return {
    ...fixture,
    fixture,
    change: (rules: RuleSource[]) => Object.assign(held, { rules }),
    results: () =>
      fixture.messages
        .flatMap((message) =>
          message.role === 'tool' ? [`${message.callId} ${message.outcome}: ${message.output}`] : [],
        )
        .sort(),
    asked: () => has(fixture, 'approve_request'),
    items: (): ApprovalItem[] =>
      fixture.events.flatMap((event) =>
        event.type === 'tool_info' || event.type === 'approve_request' ? event.items : [],
      ),
  };
}

export const facts = ({ needs_approval, error, auto_approved, auto_approve_reason, policy }: ApprovalItem) => ({
  needs_approval,
  error,
  ...(auto_approved && { auto_approved, auto_approve_reason }),
  ...(policy && { policy }),
});
