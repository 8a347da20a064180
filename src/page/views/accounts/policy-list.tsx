import { useEffect } from 'preact/hooks';
import type { ToolPolicy } from '../../../../protocol/methods/admin/policy.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { Desk } from '../../state/app.ts';
import { Icon } from '../icons.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { RecordCard } from '../rows/record-card.tsx';

interface PolicyListProps {
  desk: Desk;
  /** Undefined: a new policy. */
  onEdit(policy: ToolPolicy | undefined): void;
}

/** The tool policies in the order in which they decide. */
export function PolicyList({ desk, onEdit }: PolicyListProps) {
  const { policies: board } = accountsOf(desk);
  useEffect(() => void board.read(), [board]);
  const policies = board.policies.value;
  return (
    <section class="account-list" aria-labelledby="policies-title">
      <header>
        <h2 id="policies-title" tabIndex={-1}>
          Tool policies
        </h2>
        <span class="panel-count">{policies && policies.length > 1 ? `${policies.length} policies` : ''}</span>
        <button type="button" class="primary" onClick={() => onEdit(undefined)}>
          <Icon name="plus" />
          <span>Add a policy</span>
        </button>
      </header>
      <p class="soft">
        A tool policy says for all workstreams whether calls of a tool run, ask or are blocked, by the name of the tool.
        (A rule goes by what a call does.) The first policy that matches decides.
      </p>
      <ReadingNotice of={[board.reading]} />
      {policies?.length === 0 && (
        <p class="empty">
          No policies: the rules, the mode of the workstream, and whether a call is harmless decide. A policy is
          stronger than those: for example, it makes every call of bash ask.
        </p>
      )}
      <ul aria-label="Tool policies">
        {policies?.map((policy) => (
          <PolicyCard key={policy.policyId} desk={desk} policy={policy} onEdit={() => onEdit(policy)} />
        ))}
      </ul>
    </section>
  );
}

const WORDS = { allow: 'runs without a question', deny: 'is blocked', ask: 'asks a person' } as const;

function PolicyCard({ desk, policy, onEdit }: { desk: Desk; policy: ToolPolicy; onEdit(): void }) {
  const { policies: board } = accountsOf(desk);
  const { policyId, toolPattern, action, priority, enabled } = policy;
  return (
    <RecordCard
      title={policy.name}
      tags={[!enabled && 'disabled']}
      facts={`${toVisibleLine(toolPattern)} ${WORDS[action]} · priority ${priority}`}
      name={toVisibleLine(policy.name)}
      onEdit={onEdit}
      toggle={{ isOn: enabled, set: (isOn) => board.setEnabled(policyId, isOn) }}
      removal={{
        loss: 'and leave its calls to the other policies? This cannot be undone.',
        remove: () => board.remove(policyId),
        focusAfter: 'policies-title',
      }}
    />
  );
}
