import { useSignal } from '@preact/signals';
import type { CommandChange } from '../../state/nodes/command-changes.ts';
import { ClaimedText } from './claimed-text.tsx';

interface CommandListProps {
  label: string;
  commands: readonly CommandChange[];
  /** Number of commands shown at first. Default: all, because an approver must see everything they approve. */
  most?: number;
}

/** The commands that a machine offers or asks to offer. */
export function CommandList({ label, commands, most = commands.length }: CommandListProps) {
  const isWhole = useSignal(false);
  const shown = isWhole.value ? commands : commands.slice(0, most);
  const rest = commands.length - shown.length;
  if (commands.length === 0) return <p class="soft">no commands</p>;
  return (
    <ul class="lent" aria-label={label}>
      {shown.map(({ name, change }) => (
        <li key={name} class={change}>
          {change && <span class="hidden-text">{CHANGES[change]}</span>}
          <ClaimedText text={name} />
        </li>
      ))}
      {rest > 0 && (
        <li>
          <button
            type="button"
            class="link"
            onClick={() => {
              isWhole.value = true;
            }}
          >
            and {rest} more
          </button>
        </li>
      )}
    </ul>
  );
}

const CHANGES = { new: 'new: ', gone: 'no longer: ' };
