import type { Key } from 'node:readline';
import fuzzysort from 'fuzzysort';
import { joinLines } from '../../../../protocol/text/trimmed-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { toSafeText } from '../../terminal/safe-text.ts';

/** One thing to choose. */
export interface Choice {
  /** What choosing it stands for. */
  value: string;
  label: string;
  detail: string;
}

/** A list of which a person chooses one thing by typing a part of it. */
export interface Picker {
  readonly title: string;
  readonly query: string;
  /** Handles one key. `left`: the person chose nothing. */
  press(text: string | undefined, key: Key): PickerStep;
  /** The matches around the selected one, in at most `maxRows` rows. */
  lines(paint: Paint, maxRows: number): string[];
}

export type PickerStep = { kind: 'open' } | { kind: 'left' } | { kind: 'picked'; choice: Choice };

/** Enough for every list; more are never drawn. */
const MOST_FOUND = 200;

/** The best matches first; without a query, all choices in their order. */
function findChoices(choices: readonly Choice[], query: string): readonly Choice[] {
  if (query.trim() === '') return choices;
  const found = fuzzysort.go(query, choices, { keys: ['label', 'detail'], limit: MOST_FOUND, threshold: 0.2 });
  return found.map(({ obj }) => obj);
}

const MOVES: Readonly<Record<string, number>> = { up: -1, 'ctrl-p': -1, down: 1, tab: 1, 'ctrl-n': 1, 'ctrl-r': 1 };
const LEAVE: readonly string[] = ['escape', 'ctrl-c', 'ctrl-g'];

export function createPicker({ title, choices }: { title: string; choices: readonly Choice[] }): Picker {
  let query = '';
  let found = choices;
  let selected = 0;
  const search = (next: string): PickerStep => {
    query = next;
    found = findChoices(choices, query);
    selected = 0;
    return { kind: 'open' };
  };
  return {
    title,
    get query() {
      return query;
    },
    press(text, key) {
      const name = `${key.ctrl === true ? 'ctrl-' : ''}${key.name ?? ''}`;
      if (LEAVE.includes(name)) return { kind: 'left' };
      const chosen = name === 'return' ? found[selected] : undefined;
      if (chosen) return { kind: 'picked', choice: chosen };
      const moved = selected + (MOVES[name] ?? 0);
      selected = Math.max(0, Math.min(found.length - 1, moved));
      const next = toQuery(query, { name, text, key });
      return next === query ? { kind: 'open' } : search(next);
    },
    lines(paint, maxRows) {
      if (found.length === 0) return [paint('dim', '  (nothing matches)')];
      const first = Math.max(0, Math.min(selected - Math.floor(maxRows / 2), found.length - maxRows));
      return found
        .slice(first, first + maxRows)
        .map((choice, index) => toRow(choice, { paint, isSelected: first + index === selected }));
    },
  };
}

/** What is searched for after a key. */
function toQuery(query: string, { name, text, key }: { name: string; text: string | undefined; key: Key }): string {
  if (name === 'backspace') return [...query].slice(0, -1).join('');
  if (name === 'ctrl-u') return '';
  return isTyped(text, key) ? query + text : query;
}

const isTyped = (text: string | undefined, { ctrl, meta }: Key): text is string =>
  text !== undefined && ctrl !== true && meta !== true && text >= ' ' && text !== '\x7f';

function toRow({ label, detail }: Choice, { paint, isSelected }: { paint: Paint; isSelected: boolean }): string {
  const [name, rest] = [toOneRow(label), toOneRow(detail)];
  const head = isSelected ? paint(['bold', 'cyan'], `▸ ${name}`) : `  ${name}`;
  return rest === '' ? head : `${head}  ${paint('dim', rest)}`;
}

const toOneRow = (text: string): string => joinLines(toSafeText(text), ' ⏎ ');
