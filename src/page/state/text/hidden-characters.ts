/**
 * Makes visible what reorders a text under the eyes of its reader: direction overrides and isolates become `\u202e`.
 * What right-to-left languages need (marks, joiners) is left alone.
 */
export const showHidden = (text: string): string =>
  REORDERING.test(text)
    ? text.replaceAll(EACH_REORDERING, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
    : text;

const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;
const EACH_REORDERING = new RegExp(REORDERING, 'g');
