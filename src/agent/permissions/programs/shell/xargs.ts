import { type ShellWord, toKnownWord, UNKNOWN_WORDS } from '../../reading/shell-word.ts';
import { sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall, type Stdin } from '../program.ts';
import { toRules } from '../rows.ts';

const OPTIONS = toOptions(`
  -0 -r -t -p -x -o --replace --max-lines --eof --null --no-run-if-empty --verbose --interactive --exit --open-tty --show-limits
  -n,-P,-I,-L,-s,-d,-E,--max-args,--max-procs,--max-chars,--delimiter,--process-slot-var:value
  -a,--arg-file:read
`);

/** The words come from elsewhere, or end elsewhere. */
const OTHERWISE = ['-a', '--arg-file', '-d', '--delimiter'];

/** Runs a command with words that it reads: any words may follow, or replace `{}`. */
function xargs(call: ProgramCall): void {
  const { operands, values, given, strange } = sortArguments(call.args, OPTIONS, { stopsAtOperand: true });
  for (const { use, word } of values) addUse(call, use, word);
  for (const word of strange) addUnknown(call, word);
  const mark = values.find(({ name }) => name === '-I' || name === '--replace')?.word;
  const replaced = mark ?? (given.has('--replace') ? toKnownWord('{}') : undefined);
  const command = operands.length === 0 ? [toKnownWord('echo')] : operands;
  const isFound = (given.has('-0') || given.has('--null')) && !OTHERWISE.some((option) => given.has(option));
  const read = isFound ? toFound(call.stdin) : UNKNOWN_WORDS;
  const words =
    replaced === undefined ? [...command, read] : command.map((word) => replaceIn(word, replaced.value ?? ''));
  call.reader.words(words, { ...call, stdin: { kind: 'unknown' }, startedBy: 'xargs' });
}

/** What find prints names files below its folders, and is no option unless a folder is. */
const toFound = (stdin: Stdin): ShellWord =>
  stdin.kind === 'paths' && stdin.within.every((each) => /^[^-]/.test(each))
    ? {
        ...UNKNOWN_WORDS,
        start: stdin.within.length === 1 ? (stdin.within[0] ?? '') : '.',
        isFree: false,
        within: stdin.within,
        mayBeLink: stdin.mayBeLinks,
      }
    : UNKNOWN_WORDS;

/** The word with the mark replaced by anything, without becoming several words. */
export function replaceIn(word: ShellWord, mark: string): ShellWord {
  if (mark !== '' && !word.written.includes(mark) && !word.start.includes(mark)) return word;
  const [start = ''] = mark === '' ? [''] : word.start.split(mark, 1);
  return { ...word, value: undefined, start, isFree: start === '', globs: undefined };
}

/** The rule of xargs. */
export const XARGS = toRules({ xargs });
