import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Argument, Command, Option } from 'commander';
import { needs } from '../../testing/needs.ts';
import { toCommandWords } from './command-words.ts';
import { detectShell, installScript } from './install-script.ts';
import { toShellScript } from './shell-scripts.ts';
import { SHELLS, type Shell } from './shells.ts';

const run = promisify(execFile);

function makeProgram(): Command {
  const program = new Command('headgate').version('1');
  const cron = program.command('cron').description("jobs: who's next");
  cron.command('add').description('add a job').option('--at <time>', 'when');
  cron.command('list').description('list the jobs');
  program
    .command('chat')
    .description('talk')
    .addOption(new Option('--mode <mode>', 'mode').choices(['ask', 'auto', 'full']))
    .option('--new', 'a new one');
  program.command('install').addArgument(new Argument('[shell]').choices(['bash', 'zsh']));
  return program;
}

/** How each shell runs the script for typed words, and prints what it would offer, one word per line. */
const ASK: Record<Shell, (script: string, typed: string[]) => [program: string, code: string]> = {
  bash: (script, typed) => [
    'bash',
    `source ${script}; COMP_WORDS=(${words(typed)}); COMP_CWORD=${typed.length - 1}; _headgate; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: (script, typed) => [
    'zsh',
    `compdef() { :; }; compadd() { shift; print -l -- $@ }; _files() { print FILES }
     _describe() { print -l -- \${(P)@[-1]%%:*} }
     source ${script}; words=(${words(typed)}); CURRENT=${typed.length}; _headgate`,
  ],
  fish: (script, typed) => [
    'fish',
    `source ${script}; complete -C ${words([typed.join(' ')])} | string split -f1 \\t; true`,
  ],
};
const words = (typed: string[]) => typed.map((word) => `'${word}'`).join(' ');

for (const shell of SHELLS)
  test(`${shell} offers subcommands, options and the choices of values`, await needs(shell), async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-completion-'));
    const script = path.join(folder.path, 'script');
    await writeFile(script, toShellScript(shell, toCommandWords(makeProgram())));
    const ask = async (...typed: string[]) => {
      const [program, code] = ASK[shell](script, ['headgate', ...typed]);
      const { stdout } = await run(program, ['-c', code], { env: { PATH: process.env.PATH, HOME: folder.path } });
      return stdout.split('\n').filter((word) => word.startsWith(typed.at(-1) ?? '') && word !== '');
    };
    assert.deepEqual(await ask('c'), shell === 'fish' ? ['chat', 'cron'] : ['cron', 'chat']);
    assert.deepEqual(await ask('cron', 'a'), ['add']);
    assert.deepEqual(await ask('cron', 'add', '--a'), ['--at']);
    assert.deepEqual(await ask('chat', '--new', '--mode', 'a'), ['ask', 'auto']);
    assert.deepEqual(await ask('install', 'z'), ['zsh']);
    assert.deepEqual(await ask('chat', '--n'), ['--new']);
  });

test('installing writes the script where the shell looks for it, and says what is left to do', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-completion-'));
  const around = { environment: { SHELL: '/usr/bin/fish' }, userHome: folder.path, cwd: folder.path };
  const lines = await installScript(detectShell(around), 'script\n', around);
  const file = path.join(folder.path, '.config/fish/completions/headgate.fish');
  assert.deepEqual([lines, await readFile(file, 'utf8')], [[`Written: ${file}`, 'New shells use it.'], 'script\n']);
  const [, ...advice] = await installScript('zsh', '', { ...around, environment: { XDG_DATA_HOME: folder.path } });
  assert.ok(advice.includes(`  fpath=(${folder.path}/zsh/site-functions $fpath)`));
});

test('an unknown shell is refused with the known ones', () => {
  assert.throws(() => detectShell({ environment: { SHELL: '/bin/tcsh' } }), {
    message: 'The shell tcsh is not known. Name one of: bash, zsh, fish.',
  });
});
