import type { ComponentChildren } from 'preact';

/** Marks that connect a control with its problem. */
export const toMarks = (id: string, problem: string | undefined) => ({
  id,
  'aria-invalid': problem !== undefined,
  'aria-describedby': `${id}-problem`,
});

interface FieldFrameProps {
  /** That of the control. */
  id: string;
  label: string;
  problem: string | undefined;
  /** The control. */
  children: ComponentChildren;
}

/** The label of a control, and what is wrong with its value. */
export const FieldFrame = ({ id, label, problem, children }: FieldFrameProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    {children}
    <p class="problem" id={`${id}-problem`}>
      {problem}
    </p>
  </div>
);

/** Focuses the first invalid field in the next frame, when it is marked as invalid. */
export function focusOnProblem(form: HTMLFormElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
}
