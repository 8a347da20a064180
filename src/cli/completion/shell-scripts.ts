// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these expansions belong to the shells.
import type { CommandWords } from './command-words.ts';
import type { Shell } from './shells.ts';

/** A script that completes the commands of the program in one shell. */
export function toShellScript(shell: Shell, words: readonly CommandWords[]): string {
  const lines = { bash: toBash, zsh: toZsh, fish: toFish }[shell](words);
  return `${lines.join('\n')}\n`;
}

const madeBy = (shell: Shell) => `# Made by: headgate completion ${shell}`;

/** A text as one word of a shell. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A pattern of `case` that matches exactly these words. */
const anyOf = (words: readonly string[]): string => words.map(quote).join(' | ');

/** Moves `at` to the subcommand that the words before the cursor name. Bash and zsh share the syntax. */
const toSteps = (words: readonly CommandWords[], word: string): string[] => [
  `    case "$at/${word}" in`,
  `      ${anyOf(words.slice(1).map(({ path }) => path))}) at="$at/${word}" ;;`,
  '    esac',
];

interface ValueCase {
  /** The command and the option before the cursor. */
  places: string[];
  choices: readonly string[];
}

/** The options that a value follows, those with choices apart. */
function toValueCases(words: readonly CommandWords[]): { chosen: ValueCase[]; free: string[] } {
  const all = words.flatMap(({ path, options }) =>
    options.flatMap(({ flags, choices }) =>
      choices === undefined ? [] : [{ places: flags.map((flag) => `${path} ${flag}`), choices }],
    ),
  );
  const chosen = all.filter(({ choices }) => choices.length > 0);
  return { chosen, free: all.filter(({ choices }) => choices.length === 0).flatMap(({ places }) => places) };
}

function toBash(words: readonly CommandWords[]): string[] {
  const { chosen, free } = toValueCases(words);
  return [
    madeBy('bash'),
    '_headgate() {',
    '  local at=headgate words= i',
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
    '  COMPREPLY=()',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    ...toSteps(words, '${COMP_WORDS[i]}'),
    '  done',
    '  case "$at $prev" in',
    ...chosen.map(({ places, choices }) => `    ${anyOf(places)}) words=${quote(choices.join(' '))} ;;`),
    `    ${anyOf(free)}) return ;;`,
    '    *) case "$at" in',
    ...words.map((each) => `      ${quote(each.path)}) words=${quote(toAllWords(each).join(' '))} ;;`),
    '    esac ;;',
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    '# Where nothing matches, files are completed.',
    'complete -o default -F _headgate headgate',
  ];
}

const toAllWords = ({ commands, values, options }: CommandWords): string[] => [
  ...commands.map(({ name }) => name),
  ...values,
  ...options.flatMap(({ flags }) => flags),
];

const toEntry = (name: string, summary: string): string => quote(`${name.replaceAll(':', String.raw`\:`)}:${summary}`);

function toZsh(words: readonly CommandWords[]): string[] {
  const { chosen, free } = toValueCases(words);
  const toItems = ({ path, commands, values, options }: CommandWords) => [
    `    ${quote(path)})`,
    `      items=(${[...commands.map(({ name, summary }) => toEntry(name, summary)), ...values.map(quote)].join(' ')})`,
    `      flags=(${options.flatMap((option) => option.flags.map((flag) => toEntry(flag, option.summary))).join(' ')}) ;;`,
  ];
  return [
    '#compdef headgate',
    madeBy('zsh'),
    '_headgate() {',
    '  local at=headgate i',
    '  local -a items flags',
    '  for ((i = 2; i < CURRENT; i++)); do',
    ...toSteps(words, '${words[i]}'),
    '  done',
    '  case "$at ${words[CURRENT-1]}" in',
    ...chosen.map(
      ({ places, choices }) => `    ${anyOf(places)}) compadd -- ${choices.map(quote).join(' ')}; return ;;`,
    ),
    `    ${anyOf(free)}) _files; return ;;`,
    '  esac',
    '  case "$at" in',
    ...words.flatMap(toItems),
    '  esac',
    '  if [[ "${words[CURRENT]}" == -* ]]; then _describe -o option flags',
    '  elif (( ${#items} )); then _describe command items',
    '  else _files; fi',
    '}',
    '# Loaded as a function by its name, or read by `source`.',
    'if [[ "${funcstack[1]}" == _headgate ]]; then _headgate "$@"; else compdef _headgate headgate; fi',
  ];
}

function toFish(words: readonly CommandWords[]): string[] {
  return [
    madeBy('fish'),
    'function __headgate_at --argument-names wanted',
    '  set -l at headgate',
    '  for word in (commandline -opc)[2..]',
    `    if contains -- "$at/$word" ${words
      .slice(1)
      .map(({ path }) => quote(path))
      .join(' ')}`,
    '      set at "$at/$word"',
    '    end',
    '  end',
    '  test "$at" = "$wanted"',
    'end',
    ...words.flatMap((each) => [...toFishCommands(each), ...toFishOptions(each)]),
  ];
}

const whereAt = (path: string): string => `complete -c headgate -n ${quote(`__headgate_at ${path}`)}`;

function toFishCommands({ path, commands, values }: CommandWords): string[] {
  const named = commands.map(({ name, summary }) => `${whereAt(path)} -f -a ${quote(name)} -d ${quote(summary)}`);
  return values.length === 0 ? named : [...named, `${whereAt(path)} -f -a ${quote(values.join(' '))}`];
}

const toFishOptions = ({ path, options }: CommandWords): string[] =>
  options.map(({ flags, summary, choices }) => {
    const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
    const value = choices === undefined ? '' : choices.length === 0 ? ' -r' : ` -x -a ${quote(choices.join(' '))}`;
    return `${whereAt(path)} ${names.join(' ')}${value} -d ${quote(summary)}`;
  });
