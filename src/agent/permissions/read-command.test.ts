import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachChild, parse, type SyntaxNode } from 'unbash';
import type { CommandReading } from './command-reading.ts';
import commands from './corpus/commands.json' with { type: 'json' };
import { composeCommand, createRandom } from './corpus/compositions-fixture.ts';
import { toReadingText } from './corpus/reading-text-fixture.ts';
import rewritings from './corpus/rewritings.json' with { type: 'json' };
import { readCommand } from './read-command.ts';

const read = (command: string): CommandReading => readCommand(command, { folder: '/work', home: '/home/me' });

/** A person is asked about these, whatever else is known. */
const isAsked = ({ effects, gaps }: CommandReading): boolean =>
  effects.some(({ kind }) => kind === 'unknown') || gaps.some(({ reason }) => reason !== 'unknown_words');

test('the effects of commands of everyday work, of manuals, and of attacks', () => {
  const actual = Object.fromEntries(Object.keys(commands).map((command) => [command, toReadingText(read(command))]));
  assert.deepEqual(actual, commands);
});

test('however `rm -rf build` is written, the reading shows a deletion or something unknown', () => {
  const hidden = rewritings.filter((command) => {
    const reading = read(command);
    return !isAsked(reading) && !reading.effects.some(({ kind }) => kind === 'delete');
  });
  assert.deepEqual([hidden, rewritings.length >= 60], [[], true]);
});

test('random compositions of known commands lose no command', () => {
  const random = createRandom(7);
  const lost = Array.from({ length: 3_000 }, () => composeCommand(random, 3)).filter(({ command, programs }) => {
    const reading = read(command);
    const names = new Set(reading.commands.map(({ words }) => words[0]?.value));
    return !isAsked(reading) && !programs.every((name) => names.has(name));
  });
  assert.deepEqual(
    lost.map(({ command }) => command),
    [],
  );
});

test('every command that the parser finds anywhere is in the reading', () => {
  const random = createRandom(11);
  for (const command of [...Object.keys(commands), ...rewritings, ...compose(500)]) {
    const names = new Set(read(command).commands.map(({ words }) => words[0]?.written));
    const lost = namesIn(parse(command)).filter((name) => !names.has(name));
    assert.deepEqual(lost, [], command);
  }
  function compose(count: number): string[] {
    return Array.from({ length: count }, () => composeCommand(random, 4).command);
  }
});

/** The names of all commands, found without any knowledge of the language. */
function namesIn(node: SyntaxNode): string[] {
  const names: string[] = [];
  const visit = (each: SyntaxNode): void => {
    if (each.type === 'Command' && each.name) names.push(each.name.text);
    forEachChild(each, visit);
  };
  visit(node);
  return names;
}

const LONGEST = 20_000;
/** As often as it fits into the longest command that is read. */
const fill = (text: string): string => text.repeat(LONGEST / text.length);
const HOSTILE: Record<string, string> = {
  substitutions: fill('$('),
  'quoted substitutions': fill('"$('),
  'process substitutions': fill('<('),
  parentheses: fill('('),
  backticks: fill('`'),
  braces: `echo ${'{a,'.repeat(6_000)}${'}'.repeat(1_900)}`,
  parameters: fill('${x:-'),
  arithmetic: fill('$(('),
  subscripts: fill('a[$(('),
  ternaries: fill('$((1?'),
  'a long sum': `((${'1+'.repeat(9_900)}1))`,
  'here-documents': fill('<<A '),
  coprocs: fill('coproc '),
  pipes: fill('a|'),
  lists: `${'a&&'.repeat(6_600)}b`,
  commands: fill('rm x;'),
  redirections: fill('>'),
  ifs: fill('if '),
  functions: fill('f(){ '),
  quotes: "'".repeat(LONGEST - 1),
  'shells in shells': Array.from({ length: 12 }).reduce((code: string) => `sh -c ${JSON.stringify(code)}`, 'rm x'),
  evals: fill('eval '),
  envs: fill('env '),
  'a long word': `rm ${'x'.repeat(19_900)}`,
  globs: fill('*'),
  'a sed script': `sed '${'s/a/['.repeat(3_900)}' f`,
  'an awk program': `awk '${'/a|'.repeat(6_600)}' f`,
  tests: `[[ ${'! '.repeat(9_900)}a ]]`,
};

test('hostile commands of the greatest length are read, and say that something is unknown', () => {
  for (const [name, command] of Object.entries(HOSTILE)) {
    const reading = read(command);
    const isHarmless = ['a long word', 'a long sum', 'globs', 'braces', 'tests'].includes(name);
    assert.ok(isHarmless || isAsked(reading), name);
  }
});

test('a longer command is not read', () => {
  const comment = (length: number): string => `ls #${'x'.repeat(length - 4)}`;
  assert.deepEqual(read(comment(LONGEST)).gaps, []);
  assert.deepEqual(
    read(comment(LONGEST + 1)).gaps.map(({ reason }) => reason),
    ['too_long'],
  );
});

test('no text makes a reading throw', () => {
  const random = createRandom(3);
  const pieces = [
    '$(',
    ')',
    '`',
    '"',
    "'",
    '{',
    '}',
    '<<E\n',
    'E\n',
    '|',
    '&',
    ';',
    '\n',
    ' ',
    'rm',
    'x',
    '$x',
    '${',
    '((',
    '))',
    '[[',
    ']]',
    'if',
    'fi',
    'do',
    'done',
    'case',
    'esac',
    'in',
    '>',
    '<',
    '\\',
    '=',
    '~',
    '*',
    '\0',
    '\x1b',
    '\ud800',
    'sed',
    'awk',
    'find',
    '-exec',
    'tar',
    'git',
    '-c',
    'xargs',
    'sh',
    'eval',
    'env',
    'curl',
    '-o',
    '-',
  ];
  for (let round = 0; round < 5_000; round += 1) {
    const text = Array.from(
      { length: 1 + Math.floor(random() * 25) },
      () => pieces[Math.floor(random() * pieces.length)],
    );
    const joined = text.join(random() < 0.5 ? '' : ' ');
    assert.doesNotThrow(() => read(joined), JSON.stringify(joined));
  }
});

test('NUL and other control characters are not read as a command', () => {
  const reasons = ['rm\0 x', 'rm\x01 x', 'ls \x7f'].map((command) => read(command).gaps.map(({ reason }) => reason));
  assert.deepEqual(reasons, [['control_characters'], ['control_characters'], ['control_characters']]);
});

test('a reading names programs, arguments, variables, redirections and what starts a command', () => {
  const [outer, inner] = read('A=1 xargs rm "$X" > out').commands;
  assert.deepEqual(outer?.assignments, ['A']);
  assert.deepEqual(
    outer?.redirections.map(({ operator, target }) => [operator, target?.value]),
    [['>', 'out']],
  );
  assert.deepEqual(
    [inner?.startedBy, inner?.words.map(({ value, written }) => value ?? written)],
    ['xargs', ['rm', '"$X"', '…']],
  );
});
