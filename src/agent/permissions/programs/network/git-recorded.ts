import { isSecretPath } from '../../../tools/files/secret-path.ts';
import { HIDDEN_SECRETS } from '../../obeyed-paths.ts';
import { toNameMatcher } from '../../reading/globs.ts';
import { dropStart, type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { mayBe } from '../options.ts';
import { addUnknown, addUse, type ProgramCall } from '../program.ts';

/** `HEAD:file`, `:0:file` or `-L 1,5:file`; it may be a secret that is recorded. */
const FILE_OF_REVISION = /^[\w@{}^~./:,+-]*:(?!\/\/)[\w./-]+$/;
/** The same if the name is not known. */
const UNKNOWN_OF_REVISION = /^[\w@{}^~./,+-]*:\S*$/;
/** Commands that do not print the content of files. */
const WITHOUT_CONTENT =
  /^git (status|ls-files|ls-tree|check-ignore|check-attr|rev-parse|rev-list|name-rev|describe|merge-base|add|commit)$/;

/** Adds the file in the repository that a word of a command names, if it may be a secret. */
export function addRecorded(call: ProgramCall, word: ShellWord, isBehindOptions: boolean): void {
  const { value, start } = word;
  if (FILE_OF_REVISION.test(start))
    addUse(call, 'read', value === undefined ? toUncertain(word) : toKnownWord(value.replace(/^.*:/s, '')));
  else if (!WITHOUT_CONTENT.test(call.name) || isVerbose(call)) addNamed(call, word, isBehindOptions);
}

/** `git status -v` prints what is staged, and so does a commit that is only tried. */
const isVerbose = ({ args }: ProgramCall): boolean =>
  args.some((word) => /^-[a-zA-Z]*v/.test(word.start) || mayBe(word, ['--verbose']) || word.value === undefined);

function addNamed(call: ProgramCall, word: ShellWord, isBehindOptions: boolean): void {
  const { value, start } = word;
  const isOption = !isBehindOptions && start.startsWith('-');
  if (isOption) addOption(call, word);
  if (value === undefined && UNKNOWN_OF_REVISION.test(start)) addUse(call, 'read', toUncertain(word));
  else if (value === undefined && !isOption) addUse(call, 'read', word);
  else if (isSecretPath(value ?? '')) addUse(call, 'read', word);
  else if (isSecretPathspec(value ?? '') && !isPatternOfGrep(call, word)) addUse(call, 'read', toUncertain(word));
}

/** Files with patterns, and names that are read from the input. */
function addOption(call: ProgramCall, word: ShellWord): void {
  if (mayBe(word, ['--stdin'])) addUnknown(call, word);
  const [before] = (call.name === 'git grep' && /^-[a-zA-Z]*?f(?=.)/.exec(word.start)) || [];
  if (before !== undefined) addUse(call, 'read', dropStart(word, before.length));
}

/** A shell would expand the pattern to paths; git compares it with names itself. */
const toUncertain = (word: ShellWord): ShellWord => ({ ...word, value: undefined, globs: undefined });

/** Regular expressions are no pathspecs. */
function isPatternOfGrep({ name, args }: ProgramCall, word: ShellWord): boolean {
  if (name !== 'git grep' || args.some(({ start }) => /^-[^-]*[ef]/.test(start))) return false;
  return args.find(({ start }) => !start.startsWith('-')) === word;
}

/** `:(icase)`, `:/` and the like, before a path. */
const MAGIC = /^:(?:\(([^)]*)\)|([!^/]*):?)/;
/** No system has longer ones. */
const LONGEST_PATH = 4_096;

/** Whether a pathspec with magic or a pattern is meant for a secret. */
function isSecretPathspec(text: string): boolean {
  if (text.length > LONGEST_PATH) return true;
  const [magic = '', long = '', short = ''] = MAGIC.exec(text) ?? [];
  if (/exclude/.test(long) || /[!^]/.test(short)) return false;
  const pattern = text.slice(magic.length).replace(/\\(.)/gs, '$1');
  const texts = [pattern, pattern.replace(/[*?]|\[[^\]]{0,1000}\]/g, 'x'), pattern.replace(/[*?]/g, '')];
  return [...texts, text.slice(text.lastIndexOf(':') + 1)].some(isSecretPath) || fitsSecret(pattern);
}

/** A star of git also stands for a dot or a slash: `*env` is .env, and src*env is src/.env. */
function fitsSecret(pattern: string): boolean {
  const name = pattern.slice(pattern.lastIndexOf('/') + 1);
  const rest = name.includes('*') ? name.slice(name.indexOf('*')) : name;
  return [name, rest]
    .filter((each) => /[*?[]/.test(each) && /[a-z\d]/i.test(each))
    .map((each) => toNameMatcher(`/${each.toLowerCase()}`)) // so that it may begin with a dot
    .some((fits) => SECRETS.some((secret) => fits(`/${secret}`)));
}

const SECRETS = [...HIDDEN_SECRETS, 'id_rsa', 'id_ed25519'];
