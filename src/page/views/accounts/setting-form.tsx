import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { rangeOf, toSettingText } from '../../../../protocol/text/setting-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import { factsOf, isReplaced, type SettingEntry } from '../../state/accounts/settings-board.ts';
import type { Desk } from '../../state/app.ts';
import { fieldsOf } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';

/** One setting, with its field, its facts and what is wrong with a value. */
export function SettingForm({ desk, entry }: { desk: Desk; entry: SettingEntry }) {
  const { settings: board } = accountsOf(desk);
  const { key, description, isSecret, settable, source } = entry;
  const shown = toSettingText(entry.value);
  const typed = useSignal(shown);
  const isSaved = useSignal(false);
  useEffect(() => {
    typed.value = shown; // saved, reset, or changed elsewhere
  }, [typed, shown]);
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    isSaved.value = false;
    const refused = await board.save(entry, fieldsOf(form).value ?? '');
    isSaved.value = refused === undefined;
    return refused;
  });
  const { busy: resetting, problem: notReset, onSubmit: onReset } = useSubmit(() => board.reset(entry));
  const wrong = problem.value ?? notReset.value;
  return (
    <li class="panel-row setting">
      <form onSubmit={onSubmit} noValidate>
        {settable ? <label for={`setting-${key}`}>{key}</label> : <strong>{key}</strong>}
        <p class="account-facts" id={`about-${key}`}>
          {description}
        </p>
        {isSecret && (
          <p class="soft">
            {shown === '***' ? 'A secret is set.' : 'Not set.'} Secrets are changed in config.json or by environment
            variables only.
          </p>
        )}
        {!isSecret && !settable && (
          <p class="soft">
            {shown === '' ? 'Not set.' : <code>{shown}</code>} It is changed in config.json only, on the machine of the
            daemon.
          </p>
        )}
        {settable && (
          <div class="setting-row">
            <Field
              entry={entry}
              typed={typed.value}
              isWrong={wrong !== undefined}
              onType={(text) => (typed.value = text)}
            />
            <button type="submit" disabled={busy.value} aria-label={`Save ${key}`}>
              Save
            </button>
          </div>
        )}
        <p class="problem" role="alert" id={`problem-${key}`}>
          {wrong}
        </p>
        <p class="soft" role="status">
          {isSaved.value && (isReplaced(entry) ? SAVED_ONLY : typed.value === shown && 'Saved.')}
        </p>
        <p class="account-facts">{[rangeOf(entry), ...factsOf(entry)].filter(Boolean).join(' · ')}</p>
      </form>
      {source === 'storage' && settable && (
        <form onSubmit={onReset}>
          <button type="submit" class="quiet" disabled={resetting.value} aria-label={`Reset ${key} to its default`}>
            Reset to the default
          </button>
        </form>
      )}
    </li>
  );
}

const SAVED_ONLY = 'Saved in config.json, which does not change the value in force.';

interface FieldProps {
  entry: SettingEntry;
  typed: string;
  isWrong: boolean;
  onType(text: string): void;
}

/** The control for the type of the setting. The daemon checks the value, so that its rules are in one place. */
function Field({ entry: { key, type, choices }, typed, isWrong, onType }: FieldProps) {
  const options = type === 'bool' ? ['true', 'false'] : choices;
  const about = {
    id: `setting-${key}`,
    name: 'value',
    value: typed,
    'aria-describedby': `about-${key} problem-${key}`,
    'aria-invalid': isWrong,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => onType(currentTarget.value),
  };
  if (options !== undefined)
    return (
      <select {...about}>
        {!options.includes(typed) && <option value={typed}>{typed}</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    );
  if (type === 'object')
    return <textarea {...about} rows={Math.min(12, typed.split('\n').length + 1)} spellcheck={false} />;
  const isNumber = type === 'int' || type === 'float';
  return <input {...about} inputMode={isNumber ? 'decimal' : 'text'} autocomplete="off" spellcheck={false} />;
}
