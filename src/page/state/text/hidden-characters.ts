/**
 * Makes characters visible that reorder text: direction overrides and isolates are shown as in `\u202e`. Marks and
 * joiners, which right-to-left languages need, stay.
 */
export const showHidden = (text: string): string =>
  REORDERING.test(text)
    ? text.replaceAll(EACH_REORDERING, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
    : text;

const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;
const EACH_REORDERING = new RegExp(REORDERING, 'g');
