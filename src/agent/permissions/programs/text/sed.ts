import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall } from '../program.ts';
import { toRules } from '../rows.ts';
import { readSedScript } from './sed-script.ts';

const OPTIONS = toOptions(`
  -n -r -E -s -u -z -i -b --quiet --silent --regexp-extended --separate --unbuffered --null-data --in-place --posix --sandbox --debug
  -e,--expression,-l,--line-length:value -f,--file:read
`);

/** The script may read, write and run commands; -i writes the files. */
function sed(call: ProgramCall): void {
  const { args, isInPlace, suffix } = takeSuffix(call.args);
  const { operands, values, strange } = sortArguments(args, OPTIONS);
  for (const word of strange) addUnknown(call, word);
  for (const { use, word } of values) addUse(call, use, word);
  const given = values.filter(({ name }) => name === '-e' || name === '--expression').map(({ word }) => word);
  const hasFile = values.some(({ use }) => use === 'read');
  if (hasFile) addUnknown(call); // the script is in the file
  const isFirst = given.length === 0 && !hasFile;
  for (const word of isFirst ? operands.slice(0, 1) : given) runScript(word, call);
  for (const word of operands.slice(isFirst ? 1 : 0)) {
    addUse(call, 'read', word);
    if (isInPlace) addCopies(call, word, suffix);
  }
}

function addCopies(call: ProgramCall, file: ShellWord, suffix: string): void {
  addUse(call, 'write', file);
  if (suffix !== '' && file.value !== undefined) addUse(call, 'write', toKnownWord(toCopyName(file.value, suffix)));
}

/** `-i.bak` and `--in-place=.bak` keep a copy, of any name. */
function takeSuffix(words: readonly ShellWord[]): { args: ShellWord[]; isInPlace: boolean; suffix: string } {
  let isInPlace = false;
  let suffix = '';
  const args = words.map((word) => {
    if (!/^(-[nrEsuzb]*i|--in-place)/.test(word.start)) return word;
    isInPlace = true;
    if (word.value === undefined || /^-[nrEsuzb]*i.|^--in-place=/.test(word.start)) {
      // A suffix with a slash leads elsewhere, so it stays an unknown option.
      const [, given] = /^(?:-[nrEsuzb]*i|--in-place=)([\w.~*-]*)$/.exec(word.value ?? '') ?? [];
      if (given === undefined) return { ...word, value: '--elsewhere', start: '--elsewhere' };
      suffix = given;
      return toKnownWord('--in-place');
    }
    return word;
  });
  return { args, isInPlace, suffix };
}

/** A star in the suffix stands for the name. */
function toCopyName(file: string, suffix: string): string {
  if (!suffix.includes('*')) return `${file}${suffix}`;
  const start = file.lastIndexOf('/') + 1;
  return file.slice(0, start) + suffix.replaceAll('*', () => file.slice(start));
}

function runScript(word: ShellWord, call: ProgramCall): void {
  const found = word.value === undefined ? undefined : readSedScript(word.value);
  if (found === undefined) {
    addUnknown(call, word);
    return;
  }
  for (const file of found.reads) addUse(call, 'read', toKnownWord(file));
  for (const file of found.writes) addUse(call, 'write', toKnownWord(file));
  if (found.runs) addUnknown(call, word);
}

/** The rule of sed. */
export const SED = toRules({ 'sed gsed': sed });
