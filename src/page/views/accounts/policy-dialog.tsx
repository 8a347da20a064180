import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { POLICY_ACTIONS } from '../../../../protocol/events/policy-actions.ts';
import type { ToolPolicy } from '../../../../protocol/methods/admin/policy.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { PolicyDraft } from '../../state/accounts/policy-board.ts';
import type { Desk } from '../../state/app.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { fieldsOf } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';

interface PolicyDialogProps {
  desk: Desk;
  /** Undefined for a new policy. */
  policy: ToolPolicy | undefined;
  onClose(): void;
}

/** The form to add or change a tool policy, and to try it on the latest calls. */
export function PolicyDialog({ desk, policy, onClose }: PolicyDialogProps) {
  const { policies: board } = desk.accounts;
  const form = useRef<HTMLFormElement>(null);
  const tried = useSignal<readonly string[]>([]);
  const { busy, problem, onSubmit } = useSubmit(async (sent) => {
    const refused = await board.save(draftIn(sent, policy), policy?.policyId);
    if (refused === undefined) onClose();
    return refused;
  });
  const tryOut = async () => {
    if (form.current?.reportValidity())
      tried.value = await board.tryOut(draftIn(form.current, policy), policy?.policyId);
  };
  return (
    <Dialog title={policy ? toVisibleLine(policy.name) : 'Add a policy'} onClose={onClose}>
      <form class="account-dialog" ref={form} onSubmit={onSubmit}>
        <PolicyFields policy={policy} />
        <p class="problem" role="alert">
          {problem.value}
        </p>
        <div role="status">
          {tried.value.map((line) => (
            <p key={line} class="soft">
              {toVisibleLine(line)}
            </p>
          ))}
        </div>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" onClick={() => void tryOut()}>
            Try it
          </button>
          <button type="submit" class="primary" disabled={busy.value}>
            {policy === undefined ? 'Add' : 'Save'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const WORDS = { deny: 'block the call', ask: 'ask a person', allow: 'run without a question' } as const;

const PolicyFields = ({ policy }: Pick<PolicyDialogProps, 'policy'>) => (
  <>
    <label>
      Name
      <input name="name" maxLength={256} autocomplete="off" defaultValue={policy?.name} autofocus required />
    </label>
    <label>
      Tools (* stands for any characters, ? for one)
      <input
        name="toolPattern"
        maxLength={256}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        defaultValue={policy?.toolPattern}
        placeholder="such as bash, node* or overwrite_file"
        required
      />
    </label>
    <label>
      What happens
      <select name="action" defaultValue={policy?.action ?? 'ask'}>
        {POLICY_ACTIONS.map((action) => (
          <option key={action} value={action} selected={action === (policy?.action ?? 'ask')}>
            {WORDS[action]}
          </option>
        ))}
      </select>
    </label>
    <label>
      Priority (the highest one decides)
      <input
        name="priority"
        type="number"
        step={1}
        min={-1_000_000}
        max={1_000_000}
        defaultValue={String(policy?.priority ?? 0)}
        required
      />
    </label>
  </>
);

/** The enabled ones stay enabled; the list has the switch. */
function draftIn(form: HTMLFormElement, policy: ToolPolicy | undefined): PolicyDraft {
  const { name = '', toolPattern = '', action, priority } = fieldsOf(form);
  return {
    name: name.trim(),
    toolPattern: toolPattern.trim(),
    action: POLICY_ACTIONS.find((one) => one === action) ?? 'ask',
    priority: Number(priority),
    enabled: policy?.enabled ?? true,
  };
}
