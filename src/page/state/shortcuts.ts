export type ShortcutId =
  | 'help'
  | 'composer'
  | 'new'
  | 'saved'
  | 'dashboard'
  | 'inbox'
  | 'agent'
  | 'schedule'
  | 'nodes'
  | 'channels'
  | 'usage'
  | 'account'
  | 'previous'
  | 'next'
  | 'rename'
  | 'find'
  | 'files'
  | 'asked-before'
  | 'asked-after'
  | 'asked-last'
  | 'question'
  | 'approve'
  | 'deny'
  | 'theme';

interface Shortcut {
  /** `KeyboardEvent.code`, because Alt can change the character of a key. */
  code: string;
  modifier: 'alt' | 'control' | 'none';
  does: string;
}

/** Shortcuts that work wherever the focus is. Only `?` has no modifier, so it works only outside of fields. */
export const SHORTCUTS: Record<ShortcutId, Shortcut> = {
  composer: { code: 'KeyM', modifier: 'alt', does: 'Write a message' },
  previous: { code: 'ArrowUp', modifier: 'alt', does: 'Previous workstream' },
  next: { code: 'ArrowDown', modifier: 'alt', does: 'Next workstream' },
  new: { code: 'KeyW', modifier: 'alt', does: 'New workstream' },
  saved: { code: 'KeyK', modifier: 'control', does: 'Find a saved conversation' },
  dashboard: { code: 'KeyD', modifier: 'alt', does: 'Dashboard' },
  inbox: { code: 'KeyI', modifier: 'alt', does: 'Inbox' },
  agent: { code: 'KeyG', modifier: 'alt', does: 'Agent: watches, memories, skills, tool servers' },
  schedule: { code: 'KeyS', modifier: 'alt', does: 'Schedule' },
  nodes: { code: 'KeyO', modifier: 'alt', does: 'Nodes' },
  channels: { code: 'KeyC', modifier: 'alt', does: 'Channels' },
  usage: { code: 'KeyU', modifier: 'alt', does: 'Usage' },
  account: { code: 'KeyA', modifier: 'alt', does: 'Account' },
  rename: { code: 'KeyR', modifier: 'alt', does: 'Rename this workstream' },
  find: { code: 'KeyF', modifier: 'control', does: 'Find in this conversation (again: in the page)' },
  files: { code: 'KeyP', modifier: 'alt', does: 'Files of this workstream' },
  'asked-before': { code: 'KeyB', modifier: 'alt', does: 'Your message before this one' },
  'asked-after': { code: 'KeyJ', modifier: 'alt', does: 'Your message after this one' },
  'asked-last': { code: 'KeyE', modifier: 'alt', does: 'Your last message' },
  question: { code: 'KeyQ', modifier: 'alt', does: 'Go to the waiting question' },
  approve: { code: 'KeyY', modifier: 'alt', does: 'Approve the focused question' },
  deny: { code: 'KeyN', modifier: 'alt', does: 'Deny the focused question' },
  theme: { code: 'KeyL', modifier: 'alt', does: 'Colours: system, light, dark' },
  help: { code: 'Slash', modifier: 'none', does: 'Show this list' },
};

type Pressed = Pick<
  KeyboardEvent,
  'code' | 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'repeat' | 'isComposing'
>;

/** Finds the pressed shortcut. Key repeat is ignored, so that nothing is decided twice. */
export function findShortcut(
  pressed: Pressed,
  { isTyping, isMac }: { isTyping: boolean; isMac: boolean },
): ShortcutId | undefined {
  if (pressed.repeat || pressed.isComposing) return undefined;
  const held = modifierOf(pressed, isMac);
  if (pressed.key === '?' && !isTyping && held === 'none') return 'help';
  const found = Object.entries(SHORTCUTS).find(
    ([, { code, modifier }]) => modifier !== 'none' && code === pressed.code && modifier === held,
  );
  return pressed.shiftKey ? undefined : toId(found?.[0]);
}

const toId = (name: string | undefined): ShortcutId | undefined =>
  name !== undefined && isShortcutId(name) ? name : undefined;

export const isShortcutId = (name: string): name is ShortcutId => Object.hasOwn(SHORTCUTS, name);

/** On a Mac, Command replaces Control, because Control edits text there. */
function modifierOf({ altKey, ctrlKey, metaKey }: Pressed, isMac: boolean): Shortcut['modifier'] | 'other' {
  const held = [altKey, ctrlKey, metaKey].filter(Boolean).length;
  if (held === 0) return 'none';
  if (held > 1) return 'other'; // AltGr types letters
  if (altKey) return 'alt';
  return metaKey === isMac ? 'control' : 'other';
}

/** The keys as they are printed on the keyboard. */
export function keysOf(id: ShortcutId, isMac: boolean): string[] {
  const { code, modifier } = SHORTCUTS[id];
  const key = { ArrowUp: '↑', ArrowDown: '↓', Slash: '?' }[code] ?? code.replace('Key', '');
  if (modifier === 'none') return [key];
  if (modifier === 'alt') return [isMac ? '⌥' : 'Alt', key];
  return [isMac ? '⌘' : 'Ctrl', key];
}
