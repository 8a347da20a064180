import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall } from '../program.ts';
import { toRules } from '../rows.ts';

const OPTIONS = toOptions(
  '-F,-v,--field-separator,--assign:value -f,--file:read -P -S --posix --sandbox --re-interval --csv',
);

/** The program may run commands, and read and write files. */
function awk(call: ProgramCall): void {
  const { operands, values, strange } = sortArguments(call.args, OPTIONS, { stopsAtOperand: true });
  for (const word of strange) addUnknown(call, word);
  for (const { use, word } of values) addUse(call, use, word);
  const hasFile = values.some(({ use }) => use === 'read');
  if (hasFile) addUnknown(call); // the program is in the file
  const [first, ...rest] = operands;
  if (!hasFile && first) runProgram(first, call);
  for (const word of hasFile ? operands : rest) if (!/^[A-Za-z_]\w*=/.test(word.start)) addUse(call, 'read', word);
}

/** The patterns below take time that grows with the square of the length. */
const MAX_LENGTH = 2_000;
/** Commands, coprocesses, sockets, extensions, and other files than those of the arguments. */
const RUNS = /\b(system|getline|ARGV|ARGC)\b|@|\/inet/;
/** `|`, which starts a command, but not `||` or that of a regular expression such as `/a|b/`. */
const PIPE = /(^|[^|])\|([^|]|$)/;
/** A file name that nothing is appended to. */
const OUTPUT = />{1,2}\s*"([^"\\]*)"(?=\s*([;}\n]|$))/g;

function runProgram(word: ShellWord, call: ProgramCall): void {
  const text = word.value;
  if (text === undefined || text.length > MAX_LENGTH || RUNS.test(text) || PIPE.test(withoutPatterns(text))) {
    addUnknown(call, word);
    return;
  }
  let left = text;
  for (const [output, file = ''] of text.matchAll(OUTPUT)) {
    addUse(call, 'write', toKnownWord(file));
    left = left.replace(output, '');
  }
  // Any other > behind print may be an output; the > of conditions stands before or without it.
  const isRedirected = (part: string) => part.includes('>', Math.max(part.search(/\bprintf?\b/), 0));
  if (left.split(/[;}\n]/).some((part) => /\bprintf?\b/.test(part) && isRedirected(part))) addUnknown(call, word);
}

/** Without regular expressions that stand where no division can. */
const withoutPatterns = (text: string): string => text.replace(/(^|[~({,!&|;]\s*)\/([^/\\\n]|\\.)*\//g, '$1');

/** The rule of awk. */
export const AWK = toRules({ 'awk gawk mawk nawk': awk });
