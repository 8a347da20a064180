import { StringDecoder } from 'node:string_decoder';

/** Longer lines are passed on in pieces. */
const MAX_HELD = 4_096;

/**
 * Converts bytes to text that ends at line ends. Lines completed by the same chunk are passed on together, and a
 * character split between two chunks arrives whole.
 */
export function createLineSplitter(onText: (text: string) => void): { write(bytes: Buffer): void; end(): void } {
  const decoder = new StringDecoder('utf8');
  let held = '';
  return {
    write(bytes) {
      const text = held + decoder.write(bytes);
      const end = text.length - text.lastIndexOf('\n') - 1 > MAX_HELD ? text.length : text.lastIndexOf('\n') + 1;
      held = text.slice(end);
      if (end > 0) onText(text.slice(0, end));
    },
    end() {
      const rest = held + decoder.end();
      held = '';
      if (rest !== '') onText(rest);
    },
  };
}
