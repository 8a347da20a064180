import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ToolPolicy } from '../../../../protocol/methods/admin/policy.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Desk } from '../../state/app.ts';
import { LossQuestion } from '../dialogs/loss-question.tsx';
import { Icon } from '../icons.tsx';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { useFocusAfter } from '../use-focus-after.ts';

interface PolicyListProps {
  desk: Desk;
  /** Undefined: a new policy. */
  onEdit(policy: ToolPolicy | undefined): void;
}

/** The tool policies in the order in which they decide. */
export function PolicyList({ desk, onEdit }: PolicyListProps) {
  const { policies: board } = desk.accounts;
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
      <p class="soft">The first policy that matches a call decides, in all workstreams.</p>
      <ReadingNotice of={[board.reading]} />
      {policies?.length === 0 && <p class="empty">No policies: each tool says whether it asks.</p>}
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
  const { policies: board } = desk.accounts;
  const isDeleting = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const { policyId, toolPattern, action, priority, enabled } = policy;
  const name = toVisibleLine(policy.name);
  const element = useFocusAfter(isDeleting.value ? 'deleting' : 'shown');
  const toggle = async () => {
    problem.value = await board.setEnabled(policyId, !enabled);
  };
  return (
    <li class="panel-row" ref={element}>
      <div class="account-row">
        <div class="node-what">
          <h3>
            <ClaimedText text={policy.name} />
            {!enabled && <span class="tag">disabled</span>}
          </h3>
          <p class="account-facts">{`${toVisibleLine(toolPattern)} ${WORDS[action]} · priority ${priority}`}</p>
        </div>
        <div class="row-actions">
          <button
            type="button"
            class="quiet"
            aria-label={`${enabled ? 'Disable' : 'Enable'} ${name}`}
            onClick={() => void toggle()}
          >
            {enabled ? 'Disable' : 'Enable'}
          </button>
          <button type="button" class="quiet icon-only" aria-label={`Edit ${name}`} title="Edit" onClick={onEdit}>
            <Icon name="pencil" />
          </button>
          <button
            type="button"
            class="quiet icon-only"
            data-opens="deleting"
            aria-label={`Delete ${name}`}
            title="Delete"
            onClick={() => {
              isDeleting.value = true;
            }}
          >
            <Icon name="bin" />
          </button>
        </div>
      </div>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      {isDeleting.value && (
        <LossQuestion
          name={name}
          loss="and leave its calls to the other policies? This cannot be undone."
          remove={async () => {
            const refused = await board.remove(policyId);
            if (refused === undefined) document.getElementById('policies-title')?.focus(); // this row disappears
            return refused;
          }}
          onKeep={() => {
            isDeleting.value = false;
          }}
        />
      )}
    </li>
  );
}
