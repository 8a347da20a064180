import type { ApprovalItem } from '../../../../protocol/stream-events.ts';
import {
  type EndsLine,
  type ReadText,
  type Room,
  readText,
  toLineEnds,
  toTextEnds,
} from '../../../../protocol/text/text-ends.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';

/** A call that waits for approval, with its parsed preview. */
export interface ReadItem {
  item: ApprovalItem;
  /** Undefined if the header already shows everything. */
  preview: ReadText | undefined;
}

/** The parts of a call that a card shows. */
export interface AskedItem {
  header: string;
  label: string;
  notSandboxed: string | undefined;
  error: string | undefined;
  /** `ends`: its first and its last lines. */
  preview: { kind: 'none' } | { kind: 'whole'; text: string } | { kind: 'ends'; lines: readonly EndsLine[] };
  isWhole: boolean;
}

/** A short command's preview only repeats its header; a diff does not. */
export const hasOwnPreview = ({ preview, header }: { preview: string; header: string }): boolean =>
  preview.trim() !== '' && !header.endsWith(`: ${preview.trim()}`);

export const readItem = (item: ApprovalItem): ReadItem => ({
  item,
  preview: hasOwnPreview(item) ? readText(item.preview) : undefined,
});

/** All of the call. */
export const toWholeItem = ({ item, preview }: ReadItem): AskedItem => ({
  header: toVisibleLine(item.header),
  label: item.approval_label,
  notSandboxed: item.not_sandboxed,
  error: item.error ?? undefined,
  preview: preview === undefined ? { kind: 'none' } : { kind: 'whole', text: preview.lines.join('\n') },
  isWhole: true,
});

/**
 * Fits a call into the room: text that is too long is reduced to its beginning and its end. A header that its preview
 * repeats gets one row.
 */
export function toAskedItem(read: ReadItem, room: Room): AskedItem {
  const { item } = read;
  const whole = toWholeItem(read);
  const ends = read.preview && toTextEnds(read.preview, room);
  const cut = (text: string, rows: number) => toLineText(toVisibleLine(text), rows * room.columns);
  const prefix = whole.header.startsWith(`${item.func_name}: `) ? `${item.func_name}: ` : '';
  const header = prefix + cut(whole.header.slice(prefix.length), ends ? 1 : Math.ceil(room.rows / 2));
  const reasonRows = Math.ceil(room.rows / 3);
  const label = cut(whole.label, 1);
  const notSandboxed = whole.notSandboxed === undefined ? undefined : cut(whole.notSandboxed, reasonRows);
  const error = whole.error === undefined ? undefined : cut(whole.error, reasonRows);
  return {
    header,
    label,
    notSandboxed,
    error,
    preview: ends && !ends.isWhole ? { kind: 'ends', lines: ends.lines } : whole.preview,
    isWhole:
      (ends?.isWhole ?? true) &&
      header === whole.header &&
      label === whole.label &&
      notSandboxed === whole.notSandboxed &&
      error === whole.error,
  };
}

const toLineText = (line: string, cells: number): string =>
  toLineEnds(line, cells)
    .map(({ text }) => text)
    .join('');
