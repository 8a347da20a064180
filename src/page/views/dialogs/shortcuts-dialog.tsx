import { isShortcutId, keysOf, SHORTCUTS } from '../../state/shortcuts.ts';
import { isMac } from '../use-shortcuts.ts';
import { Dialog } from './dialog.tsx';

/** Keys that work only inside the focused part of the page. */
const IN_PLACE = [
  { keys: ['Enter'], does: 'Send (with Shift: new line)' },
  { keys: ['↑', '↓'], does: 'Earlier messages, in an empty message field' },
  { keys: ['/'], does: 'List commands, at the start of a message' },
  { keys: ['Alt', '↑', '↓'], does: 'Move the focused waiting message' },
  { keys: ['Esc', 'Esc'], does: 'Stop the run' },
  { keys: ['↑', '↓'], does: 'Move through lists' },
  { keys: ['J', 'K'], does: 'Next and previous, in the inbox' },
  { keys: ['Y', 'N'], does: 'Approve or deny the focused question of the inbox' },
  { keys: ['Enter'], does: 'Open the focused entry of the inbox' },
  { keys: ['U'], does: 'Take back the approval that was just made with Y' },
  { keys: ['F2'], does: 'Rename the focused workstream' },
  { keys: ['Del'], does: 'Close the focused workstream' },
];

/** Lists all keyboard shortcuts. */
export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  const rows = [
    ...Object.keys(SHORTCUTS)
      .filter(isShortcutId)
      .map((id) => ({ keys: keysOf(id, isMac()), does: SHORTCUTS[id].does })),
    ...IN_PLACE,
  ];
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="shortcuts">
        {rows.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key, index) => (
                <kbd key={index}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="shortcuts-licences">
        <a href="/licenses.txt" target="_blank" rel="noreferrer">
          Licences of third-party software
        </a>{' '}
        <a href="/static/diagram-licenses.txt" target="_blank" rel="noreferrer">
          and of the diagrams
        </a>
      </p>
    </Dialog>
  );
}
