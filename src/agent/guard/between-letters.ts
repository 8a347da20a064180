const ESC = '\u001b';

/** Colours, which programs put into the middle of words, and hidden characters that were written out. */
export const BETWEEN_LETTERS = new RegExp(`${ESC}\\[[0-9;:]*[mK]|\\\\u(?:200[b-f]|206[0-4]|feff|00ad|034f)`, 'g');

/** Whether a text may have any of these. */
export const hasBetweenLetters = (text: string): boolean => text.includes(ESC) || text.includes('\\u');
