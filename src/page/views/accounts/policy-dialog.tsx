import { POLICY_ACTIONS } from '../../../../protocol/events/policy-actions.ts';
import type { ToolPolicy } from '../../../../protocol/methods/admin/policy.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { PolicyDraft } from '../../state/accounts/policy-board.ts';
import type { App, Desk } from '../../state/app.ts';
import { fieldsOf } from '../form-fields.ts';
import { ActionField, PriorityField, TrialDialog } from '../rules/trial-dialog.tsx';

interface PolicyDialogProps {
  app: App;
  desk: Desk;
  /** Undefined for a new policy. */
  policy: ToolPolicy | undefined;
  onClose(): void;
}

/** The form to add or change a tool policy. */
export function PolicyDialog({ app, desk, policy, onClose }: PolicyDialogProps) {
  const { policies: board } = accountsOf(desk);
  return (
    <TrialDialog
      app={app}
      desk={desk}
      title={policy ? toVisibleLine(policy.name) : 'Add a policy'}
      isNew={policy === undefined}
      read={(form) => draftIn(form, policy)}
      save={(draft) => board.save(draft, policy?.policyId)}
      tryOut={(draft) => board.tryOut(draft, policy?.policyId)}
      onClose={onClose}
    >
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
      <ActionField action={policy?.action ?? 'ask'} />
      <PriorityField priority={policy?.priority ?? 0} />
    </TrialDialog>
  );
}

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
