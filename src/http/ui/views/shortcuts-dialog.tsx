import { keysOf, SHORTCUTS, type ShortcutId } from '../state/shortcuts.ts';
import { Dialog } from './dialog.tsx';

/** What else the keyboard does inside of parts that have the focus. */
const IN_PLACE = [
  { keys: ['Enter'], does: 'Send the message; with Shift a new line' },
  { keys: ['/'], does: 'At the beginning of a message: commands' },
  { keys: ['Esc', 'Esc'], does: 'Stop what runs' },
  { keys: ['↑', '↓'], does: 'Walk along lists' },
  { keys: ['F2'], does: 'Rename the workstream that has the focus' },
  { keys: ['Del'], does: 'Close the workstream that has the focus' },
];

/** Everything that the keyboard can do. */
export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
  const rows = [
    ...Object.entries(SHORTCUTS).map(([id, { does }]) => ({ keys: keysOf(id as ShortcutId, isMac), does })),
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
    </Dialog>
  );
}
