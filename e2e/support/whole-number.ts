/** The value of a flag that counts something. Throws a sentence about what would be right. */
export function toWholeNumber(flag: string, text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Error(`${flag} takes a whole number from 1, not ${text}`);
}
