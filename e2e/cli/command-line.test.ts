import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { needs } from '../../src/testing/needs.ts';
import { openTerminal } from '../support/clients/terminal.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

// Before the first test: a file that waits between its tests may end its stage meanwhile.
const shells = { bash: await needs('bash'), zsh: await needs('zsh'), fish: await needs('fish') };
const { model, daemon } = await openStage();

const here = { HEADGATE_HOME: daemon.home };

test('call prints the result of a method as JSON', async () => {
  const { code, stdout, stderr } = await runHeadgate(['call', 'workstream.list'], here);
  const { workstreams } = await (await daemon.client()).call('workstream.list', {});
  assert.deepEqual([code, JSON.parse(stdout), stderr], [0, { workstreams }, '']);
});

test('call prints the interim answer on stderr and generates a required idempotency key', async () => {
  model.when('from the shell', say('hello shell'));
  const params = JSON.stringify({ message: 'from the shell', sessionKey: 'shell' });
  const { code, stdout, stderr } = await runHeadgate(['call', 'agent', params, '--home', daemon.home]);
  const [interim, final] = [JSON.parse(stderr), JSON.parse(stdout)];
  assert.deepEqual([code, interim.status, final.status], [0, 'accepted', 'ok']);
  assert.equal(interim.runId, final.runId);
});

test('call reports that its run, or the run before it, waits for an approval', async () => {
  model.when('touch it', callTools({ name: 'bash', arguments: { command: 'touch it' } }), say('touched'));
  model.when('then this', say('done'));
  const ask = (message: string) =>
    spawnHeadgate({ args: ['call', 'agent', JSON.stringify({ message, sessionKey: 'asking' })], env: here });
  const hint = /^asking waits for a decision \(bash\): .* approval\.resolve '(\{.*\})'$/m;
  const first = await ask('touch it');
  await first.printed(hint, 'stderr');
  const second = await ask('then this');
  await second.printed(hint, 'stderr');
  const [, decision = ''] = hint.exec(second.stderr()) ?? [];
  assert.equal((await runHeadgate(['call', 'approval.resolve', decision], here)).code, 0);
  const codes = [await first.exited, await second.exited].map(({ code }) => code);
  assert.deepEqual(codes, [0, 0]);
});

test('call prints the error and the error code of the daemon', async () => {
  const { code, stdout, stderr } = await runHeadgate(['call', 'workstream.get', '{"wsId":"none"}'], here);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^(NOT_FOUND|INVALID_REQUEST): [^\n]+\n$/);
});

test('call refuses an unknown method and params that are not a JSON object', async () => {
  const unknown = await runHeadgate(['call', 'cron.dance'], here);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /^headgate: Unknown method "cron\.dance"\. Use one of: health, .*workstream\.list/);
  for (const params of ['{', '[]', '1']) {
    const { code, stderr } = await runHeadgate(['call', 'health', params], here);
    assert.deepEqual([code, stderr], [2, `headgate: The params must be a JSON object, not: ${params}\n`]);
  }
});

test('an address and a token are enough to reach a daemon, without its home', async () => {
  const elsewhere = { HOME: '/nowhere', HEADGATE_URL: daemon.url, HEADGATE_TOKEN: daemon.token };
  assert.equal((await runHeadgate(['call', 'health'], elsewhere)).code, 0);
  const wrong = await runHeadgate(['call', 'health', '--url', daemon.url, '--token', 'svc_wrong'], {
    HOME: '/nowhere',
  });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^UNAUTHORIZED: ws:\S+ refused the token from --token: [^\n]+ token create [^\n]+\n$/);
});

test('link prints a login link that works once', async () => {
  const { code, stdout } = await runHeadgate(['link'], here);
  assert.equal(code, 0);
  const [, loginCode] = /^http:\/\/127\.0\.0\.1:\d+\/#login=([0-9a-f]{32})\n$/.exec(stdout) ?? [];
  const login = () => daemon.post('/v1/api/auth/login', { code: loginCode });
  assert.deepEqual([(await login()).status, (await login()).status], [200, 401]);
});

test('daemon.json holds the address of a running daemon and is readable only by its owner', async () => {
  await using other = await startDaemon();
  const file = path.join(other.home, 'daemon.json');
  const { url, pid, startedAt } = JSON.parse(await readFile(file, 'utf8'));
  assert.deepEqual([url, pid], [other.url, other.pid]);
  assert.ok(!Number.isNaN(Date.parse(startedAt)));
  assert.deepEqual([(await stat(file)).mode & 0o777, (await stat(other.home)).mode & 0o777], [0o600, 0o700]);
  await other.stop();
  assert.ok(!(await readdir(other.home)).includes('daemon.json'));
});

test('a command reports that no daemon is running, also after one was killed', async () => {
  await using other = await startDaemon();
  await other.kill9();
  const { code, stdout, stderr } = await runHeadgate(['call', 'health', '--home', other.home]);
  const told = `headgate: No daemon is running in ${other.home}. Start one (headgate start), or say where it is with --url or --home.\n`;
  assert.deepEqual([code, stdout, stderr], [3, '', told]);
});

test('the banner shows login link, model, folders and sandbox; the link works', async () => {
  const { stdout } = daemon.output();
  for (const row of [/^ {2}Open {5}http/m, /^ {2}Login .* headgate link --home /m, /^ {2}Model {4}.*scripted/m])
    assert.match(stdout, row);
  assert.ok(stdout.includes(`  Home     ${daemon.home}\n  Folder   ${daemon.home}/workspace`));
  const [, code] = daemon.loginLink().split('#login=');
  assert.equal((await daemon.post('/v1/api/auth/login', { code })).status, 200);
});

test('the banner’s command for another link can be pasted into a shell', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "it's a "));
  await using other = await startDaemon({ home: path.join(folder, 'home') });
  const [, command = ''] = /; another one: (.*)$/m.exec(other.output().stdout) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', command.replace('headgate', 'printf "%s|"')]);
  assert.equal(stdout, `link|--home|${other.home}|`);
  await other.stop();
  await rm(folder, { recursive: true });
});

test('with --no-auth the banner shows the plain address, and no token is needed', async () => {
  await using open = await startDaemon({ args: ['--no-auth'] });
  assert.equal(open.loginLink(), '');
  assert.match(open.output().stdout, /^ {2}Open {5}http:\/\/127\.0\.0\.1:\d+$/m);
  const response = await fetch(new URL('/v1/api/workstreams', open.url));
  assert.equal(response.status, 200);
});

test('settings without effect cause a warning, and the daemon starts', async () => {
  await using other = await startDaemon();
  await writeFile(path.join(other.home, 'config.json'), '{ colour: 1 }');
  await other.restart();
  assert.match(other.output().stderr, /config\.json: \\"colour\\" is not a setting and has no effect/);
});

test('--version and --help answer on stdout', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(await runHeadgate(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' });
  const help = await runHeadgate(['start', '--help']);
  assert.deepEqual([help.code, help.stderr], [0, '']);
  for (const flag of ['--port', '--host', '--home', '--workdir', '--model', '--no-auth'])
    assert.ok(help.stdout.includes(flag));
});

/** How each shell loads what was installed below its home, and prints what it offers after `headgate cron`. */
const OFFERED = {
  bash: `source ~/.local/share/bash-completion/completions/headgate
    COMP_WORDS=(headgate cron ''); COMP_CWORD=2; $(complete -p headgate | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `fpath=(~/.local/share/zsh/site-functions $fpath); autoload -U _headgate; compdef() { :; }
    _describe() { print -l -- \${(P)@[-1]%%:*} }; compadd() { shift; print -l -- $@ }
    words=(headgate cron ''); CURRENT=3; _headgate`,
  fish: `complete -C 'headgate cron ' | string split -f1 \\t`, // finds the script by itself
} as const;

for (const shell of ['bash', 'zsh', 'fish'] as const)
  test(`completion install makes ${shell} offer the commands of headgate`, shells[shell], async (t) => {
    const home = await mkdtemp(path.join(tmpdir(), 'headgate-shell-'));
    t.after(() => rm(home, { recursive: true }));
    const installed = await runHeadgate(['completion', 'install'], { HOME: home, SHELL: `/usr/bin/${shell}` });
    assert.deepEqual([installed.code, installed.stderr], [0, '']);
    // fish completes only commands that exist.
    await symlink(path.resolve('bin/headgate.js'), path.join(home, 'headgate'));
    const env = { HOME: home, PATH: `${home}:${process.env.PATH}` };
    const { stdout } = await promisify(execFile)(shell, ['-c', OFFERED[shell]], { env });
    for (const word of ['add', 'list', 'run', 'explain']) assert.ok(stdout.split('\n').includes(word), stdout);
  });

test('a terminal that can do nothing gets the lines of a pipe from chat, which is also called tui, and from top, without control characters', async () => {
  model.when('plainly', say('A *plain* answer.'));
  const { wsId } = await (await daemon.client()).call('workstream.create', {});
  await using chat = openTerminal({ args: ['tui', '--ws', wsId], env: { ...here, TERM: 'dumb' } });
  chat.type('say it plainly\r');
  await chat.until((rows) => rows.some((row) => row.includes('A *plain* answer.')), 'the answer');
  assert.ok(!chat.raw().includes('\x1b'), chat.raw());
  await using top = openTerminal({ args: ['top'], env: { ...here, TERM: 'dumb' } });
  assert.equal(await top.exited, 0, 'it prints once and ends');
  assert.ok(!top.raw().includes('\x1b'), top.raw());
});
