import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { PolicyAction } from '../../../../protocol/events/policy-actions.ts';
import { POLICY_ACTIONS } from '../../../../protocol/events/policy-actions.ts';
import type { App, Desk } from '../../state/app.ts';
import type { Simulation } from '../../state/rules/simulation.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { useSubmit } from '../use-submit.ts';
import { TriedCalls } from './tried-calls.tsx';

interface TrialDialogProps<Draft> {
  app: App;
  desk: Desk;
  title: string;
  isNew: boolean;
  /** Undefined if the form shows what is wrong. */
  read(form: HTMLFormElement): Draft | undefined;
  /** Returns an error message, or undefined on success. */
  save(draft: Draft): Promise<string | undefined>;
  tryOut(draft: Draft): Promise<Simulation>;
  onClose(): void;
  children: ComponentChildren;
}

/** The form to add or change what decides about calls, and to try it on the latest ones. */
export function TrialDialog<Draft>(props: TrialDialogProps<Draft>) {
  const { app, desk, title, isNew, read, save, tryOut, onClose, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const tried = useSignal<Simulation | undefined>(undefined);
  const { busy, problem, onSubmit } = useSubmit(async (sent) => {
    const draft = read(sent);
    if (draft === undefined) return undefined;
    const refused = await save(draft);
    if (refused === undefined) onClose();
    return refused;
  });
  const onTry = async () => {
    const draft = form.current?.reportValidity() ? read(form.current) : undefined;
    tried.value = undefined;
    if (draft !== undefined) tried.value = await tryOut(draft);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="account-dialog" ref={form} onSubmit={onSubmit}>
        {children}
        <p class="problem" role="alert">
          {problem.value}
        </p>
        <TriedCalls app={app} desk={desk} tried={tried.value} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" onClick={() => void onTry()}>
            Try it
          </button>
          <button type="submit" class="primary" disabled={busy.value}>
            {isNew ? 'Add' : 'Save'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const WORDS: Record<PolicyAction, string> = {
  deny: 'block the call',
  ask: 'ask a person',
  allow: 'run without a question',
};

/** What happens to a call that fits. */
export const ActionField = ({ action }: { action: string }) => (
  <label>
    What happens
    <select name="action">
      {POLICY_ACTIONS.map((one) => (
        <option key={one} value={one} selected={one === action}>
          {WORDS[one]}
        </option>
      ))}
    </select>
  </label>
);

export const PriorityField = ({ priority }: { priority: string | number }) => (
  <label>
    Priority (the highest decides)
    <input
      name="priority"
      type="number"
      step={1}
      min={-1_000_000}
      max={1_000_000}
      defaultValue={String(priority)}
      required
    />
  </label>
);
