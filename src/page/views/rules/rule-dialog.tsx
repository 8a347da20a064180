import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { toMatchWords } from '../../../../protocol/text/rule-words.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import { isUser } from '../../state/accounts/who.ts';
import type { App, Desk } from '../../state/app.ts';
import { type RuleGiver, readFields, toFields, type WrongFields } from '../../state/rules/rule-draft.ts';
import { fieldsOf } from '../form-fields.ts';
import { MatchFields } from './match-fields.tsx';
import { PlaceFields } from './place-fields.tsx';
import { ActionField, TrialDialog } from './trial-dialog.tsx';

interface RuleDialogProps {
  app: App;
  desk: Desk;
  /** Undefined for a new rule. */
  rule: Rule | undefined;
  onClose(): void;
}

/** The form to add or change a permission rule. */
export function RuleDialog({ app, desk, rule, onClose }: RuleDialogProps) {
  const { owners } = desk;
  const { rules: board } = accountsOf(desk);
  const giver = giverOf(app);
  const wrong = useSignal<WrongFields>({});
  const fields = toFields(rule, giver);
  useEffect(() => {
    if (rule?.userId !== undefined) void owners.read([{ userId: rule.userId }]);
  }, [owners, rule]);
  const read = (form: HTMLFormElement) => {
    const result = readFields({ ...fields, ...fieldsOf(form) }, giver);
    wrong.value = 'wrong' in result ? result.wrong : {};
    if ('draft' in result) return result.draft;
    showFirst(form, result.wrong);
    return undefined;
  };
  return (
    <TrialDialog
      app={app}
      desk={desk}
      title={rule ? `Change the rule about ${toMatchWords(rule.match)}` : 'Add a rule'}
      isNew={rule === undefined}
      read={read}
      save={(draft) => board.save(draft, rule)}
      tryOut={(draft) => board.tryOut(draft, rule)}
      onClose={onClose}
    >
      <ActionField action={fields.action} />
      <MatchFields fields={fields} wrong={wrong} />
      <PlaceFields app={app} desk={desk} fields={fields} wrong={wrong} giver={giver} rule={rule} />
      {rule && <p class="soft">With other calls or another place, it becomes a new rule, and this one is deleted.</p>}
    </TrialDialog>
  );
}

const giverOf = (app: App): RuleGiver => ({
  userId: isUser(app.who.value) ? (app.who.value?.userId ?? '') : '',
  isAdmin: app.may('admin.policies'),
});

/** Moves the focus to the first field with a problem, also if it is folded away. */
function showFirst(form: HTMLFormElement, wrong: WrongFields): void {
  const field = [...form.querySelectorAll<HTMLTextAreaElement>('[name]')].find(({ name }) => name in wrong);
  field?.closest('details')?.setAttribute('open', '');
  field?.focus();
}
