import { z } from 'zod';

/*
 * Texts from clients for a model or an operator. Escape sequences could control a terminal, and characters that change the
 * writing direction could show another order than the model reads. Not written as \p{Cc}, because the JSON Schema
 * documents contain the patterns.
 */
const CONTROLS = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';
const SEPARATORS_AND_DIRECTIONS = '\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069';

/** A text of several lines, without control characters except newline and tab. */
export const PlainText = z
  .string()
  .regex(
    new RegExp(`^[^${CONTROLS}${SEPARATORS_AND_DIRECTIONS}]*$`),
    'must not contain control characters other than newline and tab, or characters that change the writing direction',
  );

const NOT_IN_NAMES = `${CONTROLS}\\t\\n${SEPARATORS_AND_DIRECTIONS}`;
const PLAIN_NAME = new RegExp(`^[^${NOT_IN_NAMES}]*$`);
/** The error message for a refused name. */
export const PLAIN_NAME_RULE =
  'must be one line without control characters or characters that change the writing direction';

/** A name, or another text of one line. */
export const PlainName = z.string().regex(PLAIN_NAME, PLAIN_NAME_RULE);

/** Whether a text of any length follows the rule of PlainName. */
export const isPlainName = (text: string): boolean => PLAIN_NAME.test(text);

/** Looks only where spaces begin, or many of them would be read again and again. */
const UNPLAIN = new RegExp(`(?<! ) *[${NOT_IN_NAMES}][${NOT_IN_NAMES} ]*`, 'g');

/** Turns an unchecked text into a name. */
export const toPlainName = (text: string): string => text.replace(UNPLAIN, ' ').trim();
