import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { transform } from 'esbuild';
import { load } from 'js-yaml';
import { CONTRACTS } from '../../protocol/index.ts';
import { createWholeProgram } from '../../src/cli/program.ts';
import { parseConfig } from '../../src/daemon/config/config.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
const { paths } = JSON.parse(readFileSync(path.join(ROOT, 'protocol/generated/openapi.json'), 'utf8'));

interface Example {
  /** The document with the number of the line. */
  place: string;
  language: string;
  text: string;
}

/** The fenced examples of a document. */
function examplesIn(document: string, text: string): Example[] {
  return [...text.matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)].map(({ index, 2: language = '', 3: body = '' }) => ({
    place: `${document}:${text.slice(0, index).split('\n').length}`,
    language,
    text: body,
  }));
}

/** Programs whose commands are not checked here, with the reason. */
const NOT_CHECKED: Readonly<Record<string, string>> = {
  createdb: 'needs a server of PostgreSQL',
  createuser: 'needs a server of PostgreSQL',
  docker: 'needs an engine for containers; the file of the image and the file for compose have tests',
  claude: 'another product',
  journalctl: 'needs systemd',
  nft: 'changes the firewall of the machine',
  'systemd-creds': 'needs systemd',
  sqlite3: 'changes a database; e2e/restart has tests of what it does',
  curl: 'what it asks is checked with the lines of the function call',
  git: 'only gives text to headgate',
  jq: 'only reads what headgate prints',
  openssl: 'only makes a password',
};
/** Words of the shell that change only files and variables that the example names. */
const SHELL = new Set(['cat', 'cd', 'chmod', 'cp', 'export', 'mkdir', 'mv', 'rm']);

/** Blocks that are not examples to run or parse, with the reason. */
const NOT_PARSED: Readonly<Record<string, string>> = {
  '': 'a grammar, or text that a program prints',
  md: 'text of a skill, which its reader reads',
  markdown: 'text of a skill or an instruction, which its reader reads',
};

const PART = /"(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s'"|;&<>\\]|\\.)/gs;
/** A comment, the place of an output or input, the end of a command, or a word. */
const TOKEN = new RegExp(`#.*|[<>]+ *\\S*|[\\n|;&]+|(?:${PART.source})+`, 'g');
/** What stands before the name of a program. */
const BEFORE_NAME = /^(\w+=.*|sudo)$/s;

/** The commands of a script, as lists of words. Enough for examples: what it cannot read becomes a wrong command. */
function commandsOf(script: string): string[][] {
  const commands: string[][] = [[]];
  const text = script
    .replaceAll('\\\n', ' ')
    .replaceAll(/<<'END'\n.*?^END$/gms, '')
    .replaceAll(/^call\(\) \{.*\}$/gm, '') // the function whose calls are checked as requests
    .replaceAll(/^\w+=\$\((.*)\)$/gm, '$1');
  for (const [token] of text.matchAll(TOKEN)) {
    if (/^[\n|;&]/.test(token)) commands.push([]);
    else if (!/^[#<>]/.test(token)) commands.at(-1)?.push(token.replaceAll(PART, unquoted));
  }
  return commands
    .map((words) => words.slice(words.findIndex((word) => !BEFORE_NAME.test(word))))
    .filter(([name]) => name !== undefined && !BEFORE_NAME.test(name));
}

const unquoted = (part: string): string => {
  if (part.startsWith("'")) return part.slice(1, -1);
  return (part.startsWith('"') ? part.slice(1, -1) : part).replaceAll(/\\(.)/gs, '$1');
};

/** The program with all its commands, of which none does anything. */
async function openIdleProgram(): Promise<Command> {
  const around = { environment: {}, homeFolder: '/home/nobody', workingFolder: '/' };
  const program = await createWholeProgram({ around: around as never, root: new URL('../../', import.meta.url) });
  const still = (command: Command): void => {
    command.exitOverride().configureOutput({ outputError: () => undefined, writeErr: () => undefined });
    command.action(() => undefined);
    for (const each of command.commands) still(each);
  };
  still(program);
  return program;
}

const idleProgram = await openIdleProgram();

/** Throws, with a reason, for a command that would not work. */
async function checkCommand([name = '', ...words]: readonly string[]): Promise<void> {
  if (name === 'npx') return checkCommand(words);
  if (name === 'headgate') return checkOwn(words);
  if (name === 'call') return checkRequest(words);
  if (name === 'npm') return checkScript(words);
  assert.ok(SHELL.has(name) || Object.hasOwn(NOT_CHECKED, name), `unknown program: ${name}`);
}

async function checkOwn(words: readonly string[]): Promise<void> {
  // As the launcher does, without a command it starts the daemon.
  const isBare = words[0] === undefined || words[0].startsWith('-');
  await idleProgram.parseAsync(isBare ? ['start', ...words] : [...words], { from: 'user' });
  if (words[0] !== 'call') return;
  const contract = Object.entries(CONTRACTS).find(([method]) => method === words[1])?.[1];
  assert.ok(contract, `no method ${words[1]}`);
  const checked = contract.params().safeParse(JSON.parse(words[2] ?? '{}'));
  // A key for repeated calls is made by the command where it is missing.
  const problems = checked.error?.issues.filter(({ path: [key] }) => key !== 'idempotencyKey') ?? [];
  assert.deepEqual(problems, []);
}

function checkRequest([address = '', ...words]: readonly string[]): void {
  const body = words[words.indexOf('-d') + 1];
  const verb = words.includes('-d') ? 'post' : 'get';
  assert.ok(paths[address.split('?')[0] ?? '']?.[verb], `no ${verb} ${address}`);
  if (verb === 'post') JSON.parse(body ?? '');
}

function checkScript([verb = '', name = '']: readonly string[]): void {
  const isOwn = verb === 'run' ? Object.hasOwn(scripts, name) : Object.hasOwn(scripts, verb);
  assert.ok(isOwn || ['ci', 'install', 'link', 'pack'].includes(verb), `no script: npm ${verb} ${name}`);
}

async function check({ place, language, text }: Example): Promise<void> {
  if (language === 'json5') assert.deepEqual(parseConfig(text, place).warnings, []);
  else if (language === 'json') JSON.parse(text);
  else if (language === 'yaml') assert.equal(typeof load(text), 'object');
  else if (language === 'js') await transform(text, { loader: 'js', format: 'esm', logLevel: 'silent' });
  else if (language === 'sh') for (const command of commandsOf(text)) await checkCommand(command);
  else assert.ok(Object.hasOwn(NOT_PARSED, language), `a block of the language ${language || 'none'}`);
}

const problemOf = (example: Example): Promise<string | undefined> =>
  check(example).then(
    () => undefined,
    (error: Error) => `${example.place}: ${error.message}`,
  );

test('every command, request, setting and program in the documentation is one that exists', async () => {
  const files = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })];
  const examples = files.flatMap((file) => examplesIn(file, readFileSync(path.join(ROOT, file), 'utf8')));
  assert.ok(examples.length >= 80, `${examples.length} examples`);
  const problems = [];
  for (const example of examples) problems.push(await problemOf(example)); // one program reads them all
  assert.deepEqual(
    problems.filter((problem) => problem !== undefined),
    [],
  );
});

test('an example with an unknown command, option, method, path, script or setting is found', async () => {
  for (const [language, text] of [
    ['sh', 'headgate invented'],
    ['sh', 'git diff | headgate run "it" --invented'],
    ['sh', 'headgate cron run issues && headgate cron invented issues'],
    ['sh', "headgate call workstream.invented '{}'"],
    ['sh', 'headgate call workstream.send \'{"wsId": 1}\''],
    ['sh', 'call /v1/api/invented'],
    ['sh', 'call /v1/api/send -d \'{"message"\''],
    ['sh', 'npm run invented'],
    ['sh', 'invented --now'],
    ['json5', '{ invented: true }'],
    ['json', '{'],
    ['js', 'const = 1'],
    ['invented', ''],
  ] as const)
    assert.notEqual(await problemOf({ place: 'x', language, text }), undefined, text);
});
