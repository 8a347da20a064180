import { useLayoutEffect, useRef } from 'preact/hooks';
import type { RuleChoice, RuleTerm } from '../../../../protocol/events/rules.ts';
import { TERM_WORDS } from '../../../../protocol/text/rule-words.ts';
import type { OfferedRules } from '../../state/approvals/rule-choices.ts';
import { fieldsOf } from '../form-fields.ts';

interface AllowFormProps {
  offered: readonly OfferedRules[];
  terms: readonly RuleTerm[];
  busy: boolean;
  onBack(): void;
  onAllow(rules: RuleChoice[]): void;
  onEverything(): void;
}

/** Approves, and lets calls like these run unasked from now on: what exactly, and how long. */
export function AllowForm({ offered, terms, busy, onBack, onAllow, onEverything }: AllowFormProps) {
  const back = useRef<HTMLButtonElement>(null);
  // So that a key pressed right after "Always allow…" does not confirm it.
  useLayoutEffect(() => back.current?.focus({ preventScroll: true }), []);
  return (
    <form
      class="decide allow"
      onSubmit={(event) => {
        event.preventDefault();
        onAllow(rulesIn(event.currentTarget, { offered, terms }));
      }}
    >
      <div class="allow-rules">
        {offered.map(({ callId, name, choices }, index) => (
          <label key={callId}>
            <span class={offered.length > 1 ? 'allow-call' : ''}>
              {offered.length > 1 ? name : 'Without asking from now on'}
            </span>
            <select name={`rule-${index}`}>
              {choices.map(({ id, words }) => (
                <option key={id} value={id}>
                  {words}
                </option>
              ))}
              {offered.length > 1 && <option value="">this time only</option>}
            </select>
          </label>
        ))}
        <label>
          How long
          <select name="term">
            {terms.map((term) => (
              <option key={term} value={term}>
                {TERM_WORDS[term]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div class="allow-buttons">
        <button type="submit" class="primary approves" disabled={busy}>
          Approve and allow
        </button>
        <button type="button" ref={back} onClick={onBack}>
          Back
        </button>
        <button type="button" class="quiet danger last" disabled={busy} onClick={onEverything}>
          Everything here…
        </button>
      </div>
    </form>
  );
}

function rulesIn(form: HTMLFormElement, { offered, terms }: Pick<AllowFormProps, 'offered' | 'terms'>): RuleChoice[] {
  const fields = fieldsOf(form);
  const term = terms.find((one) => one === fields.term) ?? 'hour';
  return offered.flatMap(({ callId }, index) => {
    const id = fields[`rule-${index}`] ?? '';
    return id === '' ? [] : [{ callId, id, term }];
  });
}
