import type { Signal } from '@preact/signals';

/** The calls of a question that a person wants to deny while the others run, by their ids. */
export type DeniedCalls = Signal<readonly string[]>;

/** Whether one call of several runs. */
export const CallChoice = ({ callId, name, denied }: { callId: string; name: string; denied: DeniedCalls }) => (
  <input
    type="checkbox"
    class="call-choice"
    aria-label={`Run ${name}`}
    title="Runs if you approve"
    checked={!denied.value.includes(callId)}
    onChange={({ currentTarget }) => {
      const others = denied.peek().filter((id) => id !== callId);
      denied.value = currentTarget.checked ? others : [...others, callId];
    }}
  />
);
