import type { ShellWord } from '../../reading/shell-word.ts';
import { addUnknown, addUse, type ProgramCall } from '../program.ts';
import { toRules } from '../rows.ts';
import { addFolder } from '../targets.ts';

/** The first operand is read, the second written. */
const readThenWrite = (options: string) => ({ options, operands: ['read', 'write', 'write'] as const });

/** split and csplit write files with the prefix, here or where it leads. */
function addPieces(call: ProgramCall, prefix: ShellWord | undefined): void {
  if (prefix === undefined) addFolder(call, 'write');
  else if (prefix.value === undefined) addUse(call, 'write', prefix);
  else addFolder(call, 'write', prefix.value.slice(0, prefix.value.lastIndexOf('/') + 1) || '.');
}

/** Rules of programs that write the text they get. */
export const WRITERS = toRules({
  tee: { options: '-a -i -p --append --ignore-interrupts --output-error', operands: ['write'] },
  uniq: readThenWrite(
    '-c -d -D -i -u -z --count --repeated --ignore-case --unique --zero-terminated -f,-s,-w,--skip-fields,--skip-chars,--check-chars:value',
  ),
  xxd: readThenWrite('-a -b -e -E -i -p -ps -plain -r -u -C -d -c,-g,-l,-o,-s,-n,-R:value'),
  iconv: { options: '-c -s -l --list -f,-t,--from-code,--to-code:value -o,--output:write', operands: ['read'] },
  split: {
    options:
      '-d -x -e -u -a,-b,-C,-l,-n,-t,--suffix-length,--bytes,--line-bytes,--lines,--number,--additional-suffix,--numeric-suffixes:value --numeric-suffixes --verbose --filter:unknown',
    operands: ['read', 'value'],
    also: (call, { operands: [file, prefix] }) => {
      addPieces(call, prefix);
      if (file?.splits) addPieces(call, file); // its second word is the prefix
    },
  },
  csplit: {
    options: '-k -s -z -q -f,--prefix,-b,-n,--digits:value',
    operands: ['read', 'value'],
    also: (call, { values }) => addPieces(call, values.find(({ name }) => name === '-f' || name === '--prefix')?.word),
  },
  patch: {
    options:
      '-N -R -s -E -f -t -b -l -u -c -n --dry-run --forward --reverse --silent --batch --force --backup -p,-F,--strip,--fuzz:value -i,--input:read -o,--output:write -d,--directory:write -r,--reject-file:write',
    folder: 'write',
    operands: ['write', 'read'],
  },
  // Its input may contain commands of the shell.
  dc: (call) => addUnknown(call),
  bc: { options: '-l -q -s -w --mathlib --quiet', operands: ['read'] },
});
