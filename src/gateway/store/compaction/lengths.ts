/*
 * Lengths of pieces as text: five bits per character, the lowest first; a character from 32 on is followed by more. Most
 * pieces are shorter than 32, so they take one character each.
 */

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const MORE = 32;

export function writeLength(length: number): string {
  const rest = Math.floor(length / MORE);
  const digit = length % MORE;
  return rest === 0 ? DIGITS.charAt(digit) : DIGITS.charAt(digit + MORE) + writeLength(rest);
}

export function readLengths(text: string): number[] {
  const lengths: number[] = [];
  let [sum, unit] = [0, 1];
  for (const char of text) {
    const digit = DIGITS.indexOf(char);
    sum += (digit % MORE) * unit;
    unit *= MORE;
    if (digit >= MORE) continue;
    lengths.push(sum);
    [sum, unit] = [0, 1];
  }
  return lengths;
}
