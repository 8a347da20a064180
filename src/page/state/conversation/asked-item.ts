import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { RiskLevel, Verdict } from '../../../../protocol/events/verdict.ts';
import { type EffectPhrase, toEffectPhrases } from '../../../../protocol/text/effect-words.ts';
import { toRulingWords } from '../../../../protocol/text/rule-words.ts';
import {
  type EndsLine,
  type ReadText,
  type Room,
  readText,
  toLineEnds,
  toTextEnds,
} from '../../../../protocol/text/text-ends.ts';
import { toRaterWords, toRiskWords } from '../../../../protocol/text/verdict-words.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';

/** A call that waits for approval, with its parsed preview. */
export interface ReadItem {
  item: ApprovalItem;
  /** Undefined if the subject already shows all of it. */
  preview: ReadText | undefined;
}

/** How a judge rates a call. */
export interface AskedVerdict {
  level: RiskLevel;
  /** The level and the reason. */
  text: string;
  /** What led to it, one line each. Empty where there is no room. */
  details: readonly string[];
}

/** The parts of a call that a card shows. */
export interface AskedItem {
  header: string;
  subject: string | undefined;
  label: string;
  /** Empty if there is only room for the fact, not for the reason. */
  notSandboxed: string | undefined;
  error: string | undefined;
  /** What the call does, one phrase for each kind. */
  effects: readonly EffectPhrase[];
  /** Why it asks, or is blocked; undefined if nothing has to be said. */
  ruling: string | undefined;
  /** The latest first. */
  verdicts: readonly AskedVerdict[];
  /** Whether there is only room for icons of the effects and the level of the verdict, next to the header. */
  isShort: boolean;
  /** `ends`: its first and its last lines. */
  preview: { kind: 'none' } | { kind: 'whole'; text: string } | { kind: 'ends'; lines: readonly EndsLine[] };
  isWhole: boolean;
}

/** A short command's preview only repeats its subject; a diff does not. */
export const hasOwnPreview = ({ preview, subject }: { preview: string; subject?: string | undefined }): boolean =>
  preview.trim() !== '' && preview.trim() !== subject;

export const readItem = (item: ApprovalItem): ReadItem => ({
  item,
  preview: hasOwnPreview(item) ? readText(item.preview) : undefined,
});

/** That of the model, once it is there, and that of the fixed rules. */
const verdictsOn = ({ verdict, heuristic_verdict: heuristic }: ApprovalItem): Verdict[] =>
  [verdict, heuristic !== undefined && heuristic.verdict_id !== verdict?.verdict_id ? heuristic : undefined].filter(
    (one) => one !== undefined,
  );

const toAskedVerdict = (verdict: Verdict, { effects }: ApprovalItem): AskedVerdict => ({
  level: verdict.risk_level,
  text: toVisibleLine(toRiskWords(verdict, effects)),
  details: [...verdict.evidence, toRaterWords(verdict)].map(toVisibleLine),
});

/** All of the call. */
export const toWholeItem = ({ item, preview }: ReadItem): AskedItem => ({
  header: toVisibleLine(item.header),
  subject: item.subject === undefined ? undefined : toVisibleLine(item.subject),
  label: item.approval_label,
  notSandboxed: item.not_sandboxed,
  error: item.error ?? undefined,
  effects: item.effects === undefined ? [] : toEffectPhrases(item.effects),
  ruling: item.ruling && toRulingWords(item.ruling),
  verdicts: verdictsOn(item).map((verdict) => toAskedVerdict(verdict, item)),
  isShort: false,
  preview: preview === undefined ? { kind: 'none' } : { kind: 'whole', text: preview.lines.join('\n') },
  isWhole: true,
});

/**
 * Fits a call into the room: text that is too long is reduced to its beginning and its end. A subject that its preview
 * repeats gets one row.
 */
export function toAskedItem(read: ReadItem, room: Room): AskedItem {
  const whole = toWholeItem(read);
  const ends = read.preview && toTextEnds(read.preview, room);
  const cut = (text: string, rows: number) => toLineText(toVisibleLine(text), rows * room.columns);
  const effects = toEffectRoom(read.item, whole.effects, room);
  const isShort = hasOnlyIcons(room);
  const titleRows = ends ? 1 : Math.ceil(room.rows / 2);
  const titleColumns = Math.max(10, room.columns - (isShort ? toTagCells(whole) : 0));
  const cutTitle = (text: string) => toLineText(toVisibleLine(text), titleRows * titleColumns);
  const header = cutTitle(whole.header);
  const subject = whole.subject === undefined ? undefined : cutTitle(whole.subject);
  const reasonRows = Math.ceil(room.rows / 3);
  const label = cut(whole.label, 1);
  // The banner has the reason, too, so it gives way first.
  const notSandboxed = whole.notSandboxed && (reasonRows === 1 ? '' : cut(whole.notSandboxed, reasonRows));
  const error = whole.error === undefined ? undefined : cut(whole.error, reasonRows);
  const ruling = whole.ruling && cut(whole.ruling, toRulingRows(room));
  const verdicts = whole.verdicts.slice(0, 1).map(({ level, text }) => ({
    level,
    text: toBeginning(text, room.columns),
    details: [],
  }));
  return {
    header,
    subject,
    label,
    notSandboxed,
    error,
    effects,
    ruling,
    verdicts,
    isShort,
    preview: ends && !ends.isWhole ? { kind: 'ends', lines: ends.lines } : whole.preview,
    isWhole:
      (ends?.isWhole ?? true) &&
      isSame(whole, { header, subject, label, notSandboxed, error, effects, ruling, verdicts }),
  };
}

type Cut = Pick<
  AskedItem,
  'header' | 'subject' | 'label' | 'notSandboxed' | 'error' | 'effects' | 'ruling' | 'verdicts'
>;

const isSame = (whole: Cut, cut: Cut): boolean =>
  (cut.subject === undefined ? cut.header === whole.header : cut.subject === whole.subject) &&
  cut.label === whole.label &&
  cut.notSandboxed === whole.notSandboxed &&
  cut.error === whole.error &&
  cut.effects === whole.effects &&
  cut.ruling === whole.ruling &&
  whole.verdicts.every(({ level }) => level === 'low'); // what led to any other verdict is worth reading

/** What icons and the level of the verdict take of the row of the header. */
const toTagCells = ({ effects, verdicts }: AskedItem): number =>
  effects.length * ROOM_OF_ICON + Math.min(1, verdicts.length) * ROOM_OF_LEVEL;

const hasOnlyIcons = ({ rows }: Room): boolean => rows <= ROWS_FOR_ICONS;

const toRulingRows = (room: Room): number => (hasOnlyIcons(room) ? 1 : Math.ceil(room.rows / 3));

/** With few rows, the phrases name only the kinds. */
function toEffectRoom(item: ApprovalItem, whole: readonly EffectPhrase[], room: Room): readonly EffectPhrase[] {
  const cells = whole.reduce((sum, { text }) => sum + text.length + ROOM_OF_ICON, 0);
  const isFitting = cells <= Math.max(1, Math.floor(room.rows / 4)) * room.columns;
  return isFitting || item.effects === undefined ? whole : toEffectPhrases(item.effects, { isShort: true });
}

/** With so few rows, a line of effects would push the end of the call out of sight. */
const ROWS_FOR_ICONS = 5;
/** `critical risk` and the gap around it, in cells. */
const ROOM_OF_LEVEL = 16;
/** An icon and the gap around it, in cells. */
const ROOM_OF_ICON = 4;

/** A reason makes sense without its end, but not without its middle. */
const toBeginning = (text: string, cells: number): string =>
  text.length <= cells ? text : `${text.slice(0, cells - 2).replace(/\s+\S*$/, '')} …`;

const toLineText = (line: string, cells: number): string =>
  toLineEnds(line, cells)
    .map(({ text }) => text)
    .join('');
