import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall } from '../program.ts';
import { toRules } from '../rows.ts';
import { readAwkProgram } from './awk-program.ts';

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

function runProgram(word: ShellWord, call: ProgramCall): void {
  const files = word.value === undefined ? undefined : readAwkProgram(word.value);
  if (files === undefined) addUnknown(call, word);
  for (const file of files ?? []) addUse(call, 'write', toKnownWord(file));
}

/** The rule of awk. */
export const AWK = toRules({ 'awk gawk mawk nawk': awk });
