import { stripVTControlCharacters } from 'node:util';
import { trimEndOf } from '../../../protocol/text/trimmed-text.ts';

/**
 * Text that cannot control a terminal: no escape sequences, no control characters except line ends, nothing that changes
 * the direction of writing. Tabs become spaces, because their width depends on the column.
 */
export function toSafeText(text: string): string {
  const plain = stripVTControlCharacters(text).replaceAll('\r\n', '\n');
  return plain.split('\n').map(toSafeLine).join('\n');
}

/** JSON over several lines that cannot control a terminal. It is the same data: such characters are escaped. */
export const toSafeJson = (value: unknown): string => toSafeJsonText(JSON.stringify(value, null, 2));

/** The same for text that is JSON already. */
export const toSafeJsonText = (json: string): string => json.split('\n').map(toEscaped).join('\n');

const toEscaped = (line: string): string =>
  line.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);

const TAB_STOP = 8;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes.
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A progress bar overwrites itself after \r; only what was drawn last is kept. */
function toSafeLine(line: string): string {
  const drawn = trimEndOf(line, '\r');
  const last = drawn.slice(drawn.lastIndexOf('\r') + 1);
  return (last.includes('\t') ? expandTabs(last) : last).replace(CONTROLS, '');
}

function expandTabs(line: string): string {
  const [first = '', ...rest] = line.split('\t');
  return rest.reduce((before, cell) => before + ' '.repeat(TAB_STOP - (before.length % TAB_STOP)) + cell, first);
}
