import { StringDecoder } from 'node:string_decoder';
import type { GuardedText } from './output-guard.ts';

/** The bytes of a program's output after they passed the guard, as UTF-8. */
export function createGuardedBytes(text: GuardedText): { write(bytes: Buffer): Buffer; end(): Buffer } {
  const decoder = new StringDecoder('utf8');
  return {
    write: (bytes) => Buffer.from(text.write(decoder.write(bytes))),
    end: () => Buffer.from(text.write(decoder.end()) + text.end()),
  };
}
