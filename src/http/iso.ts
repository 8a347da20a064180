import { toMoment } from '../day.ts';

/** A moment as the HTTP interface shows it. */
export const iso = (ms: number): string => new Date(toMoment(ms)).toISOString();

/** As `iso`; empty for a moment that is not known. */
export const isoOrEmpty = (ms: number | undefined): string => (ms === undefined ? '' : iso(ms));

/** The moment of a text that its schema has checked. */
export const momentOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text);
