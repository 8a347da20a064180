import type { TodoItem } from '../../../../protocol/events/todo.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';

/** The headings of a plan, in their order. */
const SECTIONS = ['Goal', 'Current State', 'Plan', 'Risks'] as const;

const LEAST_CHARS = 100;
/** A longer plan is cut: a person has to read it. */
const MOST_CHARS = 32_000;
const MOST_STEPS = 50;
const MOST_STEP_CHARS = 500;

/** What is wrong with a plan, in words for the model; undefined if it is complete. */
export function problemOf(text: string): string | undefined {
  if (text.length < LEAST_CHARS) return `It has ${text.length} characters; a plan needs at least ${LEAST_CHARS}.`;
  const found = headingsIn(text).map(({ title }) => title);
  const missing = SECTIONS.filter((section) => !found.includes(section.toLowerCase()));
  if (missing.length > 0) return `It has no heading ${missing.map((section) => `"${section}"`).join(', ')}.`;
  return stepsOf(text).length === 0 ? 'Its section "Plan" has no numbered list of steps.' : undefined;
}

/** Whether a text is long enough to be shown as a plan, even if it lacks sections. */
export const isPlan = (text: string): boolean => text.length >= LEAST_CHARS;

export const cutPlan = (text: string): string =>
  text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS)}\n\n[The rest of this plan was too long.]`;

/** The steps of the section "Plan" as a checklist: its numbered items, or its bullets if it has no numbers. */
export function stepsOf(text: string): TodoItem[] {
  const headings = headingsIn(text);
  const at = headings.findIndex(({ title }) => title === 'plan');
  const heading = headings[at];
  if (!heading) return [];
  const end = headings.slice(at + 1).find(({ level }) => level <= heading.level);
  const lines = proseLines(text).slice(heading.line + 1, end?.line);
  const numbered = lines.flatMap((line) => itemOf(NUMBERED, line));
  const steps = numbered.length > 0 ? numbered : lines.flatMap((line) => itemOf(BULLET, line));
  return steps.slice(0, MOST_STEPS).map((step) => ({ text: step, status: 'pending' as const }));
}

/** Only items at the margin: indented ones belong to a step. */
const NUMBERED = /^\d{1,3}[.)]\s+(\S.*)$/;
const BULLET = /^[-*+]\s+(?:\[[ xX]\]\s+)?(\S.*)$/;

function itemOf(pattern: RegExp, line: string): string[] {
  const [, item] = pattern.exec(line.trimEnd()) ?? [];
  const step = toVisibleLine((item ?? '').replaceAll('**', '')).trim();
  return step === '' ? [] : [step.length > MOST_STEP_CHARS ? `${step.slice(0, MOST_STEP_CHARS - 1)}…` : step];
}

interface Heading {
  line: number;
  level: number;
  /** In lower case, without numbers before and a colon after it. */
  title: string;
}

/** The lines of a text; those of blocks of code are empty. */
function proseLines(text: string): string[] {
  let isCode = false;
  return text.split('\n').map((line) => {
    const isFence = /^\s*(?:```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? '' : line;
  });
}

/** Headings outside blocks of code: `## Goal`, and `**Goal**` alone on its line. */
function headingsIn(text: string): Heading[] {
  return proseLines(text).flatMap((line, index): Heading[] => {
    const [, marks, words, bold] = /^(?:(#{1,6})\s+(\S.*)|\*\*(.+?)\*\*:?)$/.exec(line.slice(0, 200).trimEnd()) ?? [];
    const title = (words ?? bold)?.replaceAll(/[*:]/g, '').replace(/^\d+[.)]\s*/, '');
    return title === undefined ? [] : [{ line: index, level: marks?.length ?? 6, title: title.trim().toLowerCase() }];
  });
}
