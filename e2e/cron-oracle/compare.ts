import { Cron } from 'croner';
import { readExpression } from '../../src/cron/schedule/schedule-calendar.ts';
import { nextInstant } from '../../src/cron/schedule/schedule-instants.ts';
import { offsetMsAt } from '../../src/cron/schedule/schedule-zone.ts';
import { type Meaning, meaningOf } from './meaning.ts';
import { film, searchOccurrences } from './search.ts';
import { offsetIn, type ZoneTable } from './zone-table.ts';

/** A period to compare, with more times to ask around. */
export interface Stretch {
  table: ZoneTable;
  fromMs: number;
  toMs: number;
  aroundMs: number;
}

export interface Comparison {
  occurrences: number;
  questions: number;
  differences: string[];
}

/** An expression, its meaning, and the implementation to test. */
export interface Subject {
  expr: string;
  meaning: Meaning;
  next: (tz: string, afterMs: number) => number | undefined;
}

/** The product's answers. */
export function toSubject(expr: string): Subject {
  const calendar = readExpression(expr);
  return { expr, meaning: meaningOf(expr), next: (tz, afterMs) => nextInstant(calendar, tz, afterMs) };
}

/** The answers of croner with its own rule, which the product does not use. */
export function toSubjectOfCroner(expr: string): Subject {
  const crons = new Map<string, Cron>();
  const cronOf = (timezone: string) => {
    const cron = crons.get(timezone) ?? new Cron(expr, { timezone, fixedTimeRule: 'no-wildcard', paused: true });
    crons.clear(); // each is large, and zones are processed one after the other
    crons.set(timezone, cron);
    return cron;
  };
  const next = (tz: string, afterMs: number) => cronOf(tz).nextRun(new Date(afterMs))?.getTime();
  return { expr, meaning: meaningOf(expr), next };
}

/**
 * Compares answers with the oracle: the chain of occurrences through the period, and answers between them, which the
 * chain never asks for (in the second pass of an hour, a millisecond before or after a change).
 */
export function compare(stretch: Stretch, subjects: readonly Subject[]): Comparison {
  const filmed = film(stretch.table, stretch.fromMs, stretch.toMs);
  const questions = questionsAround(stretch);
  const results = subjects.map((subject) => {
    const expected = searchOccurrences(filmed, subject.meaning);
    const chain = [stretch.fromMs - 1, ...expected].map((afterMs, index) => ({ afterMs, atMs: expected[index] }));
    const between = questions.map((afterMs) => ({ afterMs, atMs: expected.find((atMs) => atMs > afterMs) }));
    return { occurrences: expected.length, differences: differencesOf(stretch, subject, [...chain, ...between]) };
  });
  return {
    occurrences: results.reduce((sum, { occurrences }) => sum + occurrences, 0),
    questions: questions.length * subjects.length,
    differences: results.flatMap(({ differences }) => differences),
  };
}

/** A question, and its answer within the period. */
interface Expectation {
  afterMs: number;
  atMs: number | undefined;
}

function differencesOf({ table, toMs }: Stretch, subject: Subject, expectations: readonly Expectation[]): string[] {
  return expectations.flatMap(({ afterMs, atMs }) => {
    const answer = subject.next(table.tz, afterMs);
    const found = answer !== undefined && answer < toMs ? answer : undefined;
    if (found === atMs) return [];
    return [`${subject.expr} in ${table.tz} after ${tell(afterMs)}: expected ${tell(atMs)}, got ${tell(found)}`];
  });
}

function tell(atMs: number | undefined): string {
  return atMs === undefined ? 'none' : new Date(atMs).toISOString();
}

/** Where the product's offset differs from the table, checked hourly and on both sides of each change. */
export function compareOffsets(table: ZoneTable, aroundMs: number): string[] {
  const hours = Array.from({ length: 2 * 84 + 1 }, (_, index) => aroundMs + (index - 84) * 3_600_000);
  return [...hours, aroundMs - 1, aroundMs - 1_000, aroundMs + 1_000]
    .filter((atMs) => offsetMsAt(table.tz, atMs) !== offsetIn(table, atMs))
    .map((atMs) => `${table.tz}: another offset at ${new Date(atMs).toISOString()}`);
}

/** At the instant, and at a clock change also every twenty minutes for three and a half hours before and after. */
function questionsAround({ table, aroundMs }: Stretch): number[] {
  const near = [aroundMs - 1, aroundMs, aroundMs + 1];
  if (!table.changes.some(({ atMs }) => atMs === aroundMs)) return near;
  return [...near, ...Array.from({ length: 22 }, (_, index) => aroundMs + (index - 11) * 1_200_000 + 613_123)];
}
