import { type ParsedScript, parse } from 'unbash';
import type { IncompleteReason } from '../../../../protocol/events/call-effects.ts';

type ParsedShell =
  | { kind: 'parsed'; script: ParsedScript }
  | { kind: 'refused'; reason: IncompleteReason & ('not_parsed' | 'too_long' | 'control_characters') };

/** The parser's time grows with the square of the text's length for texts that are made for it: a tenth of a second for this one. */
const MAX_LENGTH = 20_000;
/** The parser's time grows with their square. */
const MAX_HEREDOCS = 1_000;
/** Bash treats some of them specially, and programs cannot receive NUL. Tab, line feed and carriage return are common. */
const CONTROL_CHARACTERS = /[^\P{Cc}\t\n\r]/u;

/** Parses a script. It never throws. Errors of nested scripts are in their nodes. */
export function parseShell(text: string): ParsedShell {
  if (text.length > MAX_LENGTH || text.split('<<').length > MAX_HEREDOCS)
    return { kind: 'refused', reason: 'too_long' };
  if (CONTROL_CHARACTERS.test(text)) return { kind: 'refused', reason: 'control_characters' };
  try {
    return { kind: 'parsed', script: parse(text) };
  } catch {
    return { kind: 'refused', reason: 'not_parsed' }; // a chain of coprocs overflows its stack
  }
}
